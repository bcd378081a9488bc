import re

# Columns that cannot help: empty, constant, identifiers, copies of others{{ ", not in the test file" if "test" in inputs and not v.test_problem | default("") else "" }}
def is_id(name):
    words = r"id|ids|uuid|guid|key|index|row|rownames?|serial|record|no|nr|instant"
    return re.search(rf"(?i:(^|[^a-z])({words})$|^unnamed)|[a-z](Id|ID)$|编号|序号|学号|工号", name)


def useless(name, column, filled, levels):
    """Why a column cannot be a feature; nothing if it can."""
    if levels == 0:
        return "empty"
    if levels == 1 and not 0.02 < filled / len(column) < 0.98:
        return "constant"
    if column.dtype.kind == "M" or name in code_parts or name in lettered_codes and levels > filled / 5:
        return "in parts"
    if column.dtype.kind in "iuf" and name in raw.columns and levels == filled >= 20 and (column.dropna() % 1 == 0).all():
        in_a_row = column.max() - column.min() < 1.5 * filled
        return "identifier" if in_a_row or is_id(name) else None
    if name in word_columns and name not in long_texts and filled >= 20 and levels > 0.9 * filled:
        return "identifier"
    return None


def mark(column):
    """The same for columns with the same values."""
    column = column.astype(float) if column.dtype.kind in "biuf" else column
    return hash(pd.util.hash_pandas_object(column, index=False).to_numpy().tobytes())


candidate_columns = [str(name) for name in df_clean.columns if name not in target_names]
reasons = {name: useless(name, df_clean[name], int(df_clean[name].notna().sum()), int(df_clean[name].nunique())) for name in candidate_columns}
dropped_columns = {name: reason for name, reason in reasons.items() if reason}
marks = pd.Series({name: mark(df_clean[name]) for name in candidate_columns if name not in dropped_columns}, dtype="object")
dropped_columns |= dict.fromkeys(marks.index[marks.duplicated()], "duplicate column")
identifiers = [name for name, reason in dropped_columns.items() if reason == "identifier"]
#% if "test" in inputs and not v.test_problem | default("")
not_in_test = {name: "not in test" for name in candidate_columns if name not in new.columns}
kept = set(candidate_columns) - set(dropped_columns)
# A test file without any column to learn from takes none away: it cannot be predicted, but there can be a model.
test_fits = not kept or not kept <= set(not_in_test)
dropped_columns |= not_in_test if test_fits else {}
#% endif
pd.Series(dropped_columns).head(40).to_frame({{ "不用的原因" if lang == "zh" else "not used because" }}) if dropped_columns else None
