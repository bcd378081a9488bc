# Columns that cannot help: empty, constant, identifiers, copies of others{{ ", not in the test file" if "test" in inputs and not v.test_problem | default("") else "" }}
def useless(name, column, filled, levels):
    """Why a column cannot be a feature; nothing if it can."""
    if levels == 0:
        return "empty"
    if levels == 1 and not 0.02 < filled / len(column) < 0.98:
        return "constant"
    if column.dtype.kind == "M" or name in code_parts or name in lettered_codes and levels > filled / 5:
        return "in parts"
    if column.dtype.kind in "iuf" and name in raw.columns and levels > 0.9 * filled >= 18 and (column.dropna() % 1 == 0).all():
        return names_rows(name, column, filled, levels)
    if name in word_columns and name not in long_texts and filled >= 20 and levels > 0.9 * filled:
        return "identifier"
    return None


running_numbers = []
candidate_columns = [str(name) for name in df_clean.columns if name not in target_names]
reasons = {name: useless(name, df_clean[name], int(df_clean[name].notna().sum()), int(df_clean[name].nunique())) for name in candidate_columns}
dropped_columns = {name: reason for name, reason in reasons.items() if reason}
marks = pd.Series({name: mark(df_clean[name]) for name in candidate_columns if name not in dropped_columns}, dtype="object")
dropped_columns |= dict.fromkeys(marks.index[marks.duplicated()], "duplicate column")
same_columns = said_twice([name for name in candidate_columns if name in raw.columns and name not in dropped_columns][:300])
#% if "test" in inputs and not v.test_problem | default("")
same_columns = [sorted(group, key=lambda name: name not in new.columns) for group in same_columns]
#% endif
dropped_columns |= {name: "says the same" for group in same_columns for name in group[1:]}
#% if inputs.keep is defined and inputs.keep
wanted = {{ inputs.keep }}
dropped_columns = {name: why for name, why in dropped_columns.items() if name not in wanted or why not in ("identifier", "says the same")}
#% endif
identifiers = [name for name, reason in dropped_columns.items() if reason == "identifier"]
#% if "test" in inputs and not v.test_problem | default("")
not_in_test = {name: "not in test" for name in candidate_columns if name not in new.columns}
kept = set(candidate_columns) - set(dropped_columns)
# A test file without any column to learn from takes none away: it cannot be predicted, but there can be a model.
test_fits = not kept or not kept <= set(not_in_test)
dropped_columns |= not_in_test if test_fits else {}
#% endif
pd.Series(dropped_columns).head(40).to_frame({{ "不用的原因" if lang == "zh" else "not used because" }}) if dropped_columns else None
