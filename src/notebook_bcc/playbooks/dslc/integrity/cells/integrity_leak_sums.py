def rounding(wanted):
    """How far rounding may have moved the target, where it is written with few decimals and spreads over many of them."""
    decimals = next((places for places in range(7) if np.allclose(np.round(wanted, places), wanted, rtol=0, atol=1e-9)), None)
    step = 0.0 if decimals is None else 0.5001 * 10.0**-decimals
    return step if step <= 0.01 * wanted.std() else 0.0


def made_of_two(values, wanted, names):
    """Pairs of columns whose sum, difference, mean, product or ratio is the target in nearly every row."""
    found, near = [], max(1e-4 * wanted.std(), rounding(wanted))
    for at, name in enumerate(names):
        own, others = values[:, [at]], values[:, at + 1 :]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            forms = {"+": own + others, "-": own - others, "- from": others - own, "mean": (own + others) / 2}
            forms |= {"×": own * others, "/": own / others, "/ from": others / own}
            for form, result in forms.items():
                hits = (np.abs(result - wanted[:, None]) <= near).mean(axis=0) > 0.99
                found += [[name, form, names[at + 1 + other]] for other in np.flatnonzero(hits)]
    swapped = {"- from": "-", "/ from": "/"}
    return [[second, swapped[form], first] if form in swapped else [first, form, second] for first, form, second in found]


def made_of_many(values, wanted, names):
    """Columns of a weighted sum that leaves nothing of the target unexplained."""
    if len(wanted) < 3 * len(names) + 30 or not names:
        return []
    design = np.c_[values, np.ones(len(values))]
    weights = np.linalg.lstsq(design, wanted, rcond=None)[0]
    if (wanted - design @ weights).std() > 1e-5 * wanted.std():
        return []
    return [name for name, part in zip(names, np.abs(weights[:-1]) * values.std(axis=0)) if part > 0.01 * wanted.std()]


# Do columns make up the target, as parts of a sum would?
numeric = [name for name in related.nlargest(60).index if few[name].dtype.kind in "iuf" and name not in leaks]
table = few[[*numeric, target]].fillna(0.0).astype(float)
leak_sums = made_of_two(table[numeric].to_numpy(), table[target].to_numpy(), numeric)[:10]
for first, form, second in leak_sums:
    made = f"mean of {first} and {second}" if form == "mean" else f"{first} {form} {second}"
    leaks |= {name: f"{made} = {target}" for name in (first, second) if name not in leaks}
if not leak_sums:
    leaks |= {name: "part of a sum" for name in made_of_many(table[numeric].to_numpy(), table[target].to_numpy(), numeric)}
del table, numeric
leaks or None
