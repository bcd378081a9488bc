#% if v.target_names
# Rows that are copies of others would count twice; rows without the target cannot teach or test anything.
#% else
# Rows that are copies of others would count twice.
#% endif
def pairs_by_chance(table, copies):
    """How many pairs of rows would agree if the columns were independent; none where a column is a key."""
    if copies.mean() < 0.5 and any(table.loc[~copies, name].is_unique for name in table.columns[:200]):
        return 0.0
    agree = [float((table[name].value_counts(normalize=True, dropna=False) ** 2).sum()) for name in table.columns[:200]]
    return round(float(len(table) ** 2 / 2 * np.prod(agree)), 1)


rest = cleaned.drop(index=cleaned.index[total_rows])
copies = rest.duplicated()
copied_rows = int(copies.sum())
chance_copies = pairs_by_chance(rest, copies)
copies_natural = chance_copies >= 0.1 * max(copied_rows, 1)
rest = rest if copies_natural else rest[~copies]
#% if v.target_names
untargeted_rows = int(rest[target_names].isna().any(axis=1).sum())
#% else
untargeted_rows = 0
#% endif
rows_left = len(rest)
del rest, copies
