#% set asks = asked.question
#% set conditions = asks.where + asks.event
# Of these, what bears on the question; a code or a total that the question names itself is meant
used_columns, named_values = set({{ asks.columns + asks.group }}), set()
#% for one in conditions
used_columns.add({{ one.column }})
named_values |= set(map(str, {{ one["values"] }}))
#% endfor
# A total may lie further out than a code, and hide it.
others = raw.drop(index=raw.index[total_rows])
found_codes = {name: codes_in(others[name]) for name in sorted(used_columns) if others[name].dtype.kind in "iuf"}
missing_codes = {name: [code for code in codes if f"{code:g}" not in named_values] for name, codes in found_codes.items()}
missing_codes = {name: codes for name, codes in missing_codes.items() if codes}
code_counts = {name: int(others[name].isin(codes).sum()) for name, codes in missing_codes.items()}
infinite_counts = {name: int(np.isinf(others[name].astype(float)).sum()) for name in found_codes}
infinite_counts = {name: count for name, count in infinite_counts.items() if count}
read_columns = [name for name in number_texts if name in used_columns]
if named_values & set(raw.iloc[total_rows].astype(str).to_numpy().ravel()):
    total_rows, total_values = [], []
is_repaired = bool(missing_codes or infinite_counts or total_rows)
print(missing_codes, infinite_counts, total_rows)
