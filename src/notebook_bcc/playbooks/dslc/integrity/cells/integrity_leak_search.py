leaks, suspects, missing_tells, doubtful_columns, kept_leaks = {}, {}, {}, {}, {}
#% if v.date_parts is mapping
of_time = [f"{name}_{part}" for name, parts in {{ v.date_parts }}.items() for part in parts]
#% else
of_time = [f"{name}_{part}" for name, parts in date_parts.items() for part in parts]
#% endif
of_time += {{ [v.time_column] + v.time_parts + v.running_numbers }}  # a part of a date follows the target, and gives nothing away
#% if v.task == "regression"
usual = 0.05
#% elif v.task == "binary"
usual = 0.6
#% else
usual = 0.05 + float(labels.value_counts(normalize=True).max())
#% endif
for name, score in single_scores.items():
    if name in of_time:
        continue
    word = said_afterwards(name)
    if found := evidence(name):
        leaks[name] = found
    elif suspicious(name):
        suspects[name] = score
    elif word and score > usual:
        doubtful_columns[name] = word
    #% if v.task != "regression"
    label, apart = empty_class(name)
    if apart > 0.9:
        missing_tells[name] = label
        suspects |= {name: score} if name not in leaks else {}
    #% endif
#% if v.split_kind == "time" and v.task == "regression"
# In ordered rows, a column may also hold what comes next.
ahead = train[[name for name in codes.columns if train[name].dtype.kind in "iuf"]].corrwith(train[target].shift(-1))
leaks |= {str(name): "next row" for name in ahead.index[(ahead.abs() > 0.999).to_numpy()] if name not in leaks and name not in of_time}
#% endif
