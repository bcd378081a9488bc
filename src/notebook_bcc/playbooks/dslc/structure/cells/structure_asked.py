import re
import unicodedata


def letters_of(text):
    """Small letters and digits alone: what a goal and a value have in common, however they are written."""
    return "".join(re.findall(r"[^\W_]", unicodedata.normalize("NFKC", str(text)).casefold()))


def kind_of(column):
    if pd.api.types.is_bool_dtype(column):
        return "boolean"
    if pd.api.types.is_numeric_dtype(column):
        return "number"
    if pd.api.types.is_datetime64_any_dtype(column):
        return "date"
    return "category" if column.nunique() <= 50 else "text"


def values_a_goal_may_name(column, kind):
    """All values where there are few; of many those that stand in the goal."""
    if kind == "number":
        values = column.dropna().unique() if column.nunique() == 2 else []
        return [int(value) if value == int(value) else float(value) for value in values]
    if kind not in ("category", "text") or column.nunique() > 50000:
        return []
    values = [value for value in column.dropna().unique() if isinstance(value, str) and len(value) <= 60]
    named = [value for value in values if len(letters_of(value)) > 1 and letters_of(value) in goal_letters]
    return values if len(values) <= 6 else named


goal_letters = letters_of({{ inputs.goal | default("") }})
goal_words = {word[:3] for word in re.findall(r"[^\W\d_]+", {{ inputs.goal | default("") }}.casefold())}
told_columns, told_values = {}, {}
for name in raw.columns:
    words = {word[:3] for word in re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold())}
    if raw.shape[1] > 150 and not words & goal_words and letters_of(name) not in goal_letters:
        continue
    kind = kind_of(raw[name])
    told_columns[name] = f"{kind} {raw[name].nunique()} {raw[name].isna().sum()}"
    told_values[name] = values_a_goal_may_name(raw[name], kind)
told_values = {name: values for name, values in told_values.items() if values}
# An observation holds only so much.
told_cut = len(told_columns) > 180 or sum(map(len, told_columns)) > 4000
if sum(map(len, told_values.values())) + len(told_values) > 180:
    told_values = {
        name: [value for value in values if letters_of(value) in goal_letters] for name, values in told_values.items()
    }
    told_values = {name: values for name, values in told_values.items() if values}
    told_cut = told_cut or sum(map(len, told_values.values())) + len(told_values) > 180
print(told_columns, told_values)
