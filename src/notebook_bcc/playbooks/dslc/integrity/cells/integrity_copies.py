#% if v.target_names
# Rows that are copies of others would count twice; rows without the target cannot teach or test anything.
#% else
# Rows that are copies of others would count twice.
#% endif
def numbers_rows(name, column):
    """Whether a column only numbers the rows: whole, each once, in a row or called an identifier."""
    if column.dtype.kind not in "iuf" or name in target_names or not column.is_unique or column.isna().any():
        return False
    whole = (column % 1 == 0).all()
    return bool(whole and (column.max() - column.min() < 1.5 * len(column) or is_id(name)))


def pairs_by_chance(table, copies):
    """How many pairs of rows would agree if the columns were independent; none where a column is a key."""
    if copies.mean() < 0.5 and any(table.loc[~copies, name].is_unique for name in table.columns[:200]):
        return 0.0
    agree = [float((table[name].value_counts(normalize=True, dropna=False) ** 2).sum()) for name in table.columns[:200]]
    return round(float(len(table) ** 2 / 2 * np.prod(agree)), 1)


rest = cleaned.drop(index=cleaned.index[total_rows])
row_numbers = [str(name) for name in rest.columns if len(rest) >= 20 and numbers_rows(str(name), rest[name])]
known = rest.drop(columns=row_numbers)
# A row number makes rows distinct; where the others are counts and categories, rows may well agree in all of them.
if row_numbers and not any(known[name].nunique() > 0.2 * len(known) for name in known.columns):
    row_numbers, known = [], rest
copies = known.duplicated()
copied_rows = int(copies.sum())
chance_copies = pairs_by_chance(known, copies)
copies_natural = chance_copies >= 0.1 * max(copied_rows, 1)
rest = rest if copies_natural else rest[~copies]
#% if v.target_names
untargeted_rows = int(rest[target_names].isna().any(axis=1).sum())
#% else
untargeted_rows = 0
#% endif
rows_left = len(rest)
del rest, known, copies
