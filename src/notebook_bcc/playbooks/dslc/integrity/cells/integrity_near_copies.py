# Rows that repeat another one of the same key, but for a little
def near_copies_under(name):
    """How many rows repeat another one of the same key in nearly every column, the target among them."""
    keyed = df_clean.sort_values(name, kind="stable")
    same_key = (keyed[name] == keyed[name].shift()).to_numpy()
    if same_key.mean() < 0.1 or df_clean[name].nunique() < 20:
        return 0
    others = keyed[[other for other in [*own_columns, *target_names] if other != name and keyed[other].nunique() > 1]]
    equal = (others == others.shift()) | (others.isna() & others.shift().isna())
    telling = [other for other in others.columns if others[other].nunique() >= 20 and equal.loc[same_key, other].mean() > 0.95]
    alike = equal[same_key]
    nearly = alike.mean(axis=1) >= max(0.6, 1 - 2 / max(len(others.columns), 1))
    if len(others.columns) < 3 or not telling or (nearly & alike[target_names].all(axis=1)).mean() < 0.9:
        return 0
    return int(nearly.sum())
