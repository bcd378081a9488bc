def made_of_many(values, wanted, names):
    """Columns of a weighted sum that leaves nothing of the target unexplained but its rounding."""
    if len(wanted) < 3 * len(names) + 30 or not names:
        return []
    design = np.c_[values, np.ones(len(values))]
    weights = np.linalg.lstsq(design, wanted, rcond=None)[0]
    if (wanted - design @ weights).std() > max(1e-5 * wanted.std(), 0.6 * rounding(wanted)):
        return []
    return [name for name, part in zip(names, np.abs(weights[:-1]) * values.std(axis=0)) if part > 0.01 * wanted.std()]


def multiplied_of_many(values, wanted, names):
    """Columns of a product of powers, whatever its units, that is the target in nearly every row."""
    positive = (values > 0).all(axis=0)
    values, names = np.log(values[:, positive]), [name for name, fits in zip(names, positive) if fits]
    if (wanted <= 0).any() or len(wanted) < 3 * len(names) + 30 or not names:
        return []
    design = np.c_[values, np.ones(len(values))]
    weights = np.linalg.lstsq(design, np.log(wanted), rcond=None)[0]
    near = max(1e-4 * wanted.std(), 1.5 * rounding(wanted))
    if (np.abs(np.exp(design @ weights) - wanted) <= near).mean() < 0.99:
        return []
    return [name for name, part in zip(names, np.abs(weights[:-1]) * values.std(axis=0)) if part > 0.01 * np.log(wanted).std()]


# Do columns make up the target, as parts of a sum or factors of a product would?
numeric = [name for name in related.nlargest(60).index if few[name].dtype.kind in "iuf" and name not in [*leaks, *of_time]]
table = few[[*numeric, target]].fillna(0.0).astype(float)
values, wanted = table[numeric].to_numpy(), table[target].to_numpy()
quick = made_of_two(values[:300], wanted[:300], numeric)
pairs = sorted({name for first, _, second, *_ in quick for name in (first, second)}, key=numeric.index)
leak_sums = made_of_two(table[pairs].to_numpy(), wanted, pairs)[:10] if pairs else []
for first, form, second, *_ in leak_sums:
    made = f"mean of {first} and {second}" if form == "mean" else f"{first} {form} {second}"
    leaks |= {name: f"{made} = {target}" for name in (first, second) if name not in leaks}
if not leak_sums:
    leaks |= {name: "part of a sum" for name in made_of_many(values, wanted, numeric)}
    leaks |= {name: "part of a product" for name in multiplied_of_many(values, wanted, numeric) if name not in leaks}
del table, numeric, values, wanted, quick
