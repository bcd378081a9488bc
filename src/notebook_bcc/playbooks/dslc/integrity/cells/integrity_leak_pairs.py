# Pairs of columns that make up the target
def rounding(wanted):
    """How far rounding may have moved the target, where it is written with few decimals and spreads over many of them."""
    decimals = next((places for places in range(7) if np.allclose(np.round(wanted, places), wanted, rtol=0, atol=1e-9)), None)
    step = 0.0 if decimals is None else 0.5001 * 10.0**-decimals
    return step if step <= 0.01 * wanted.std() else 0.0


def forms_of(own, others):
    """What two columns can make; of products and ratios the scale is free, for units: price × area / 10,000."""
    sums = {"+": own + others, "-": own - others, "- from": others - own, "mean": (own + others) / 2}
    scaled = {"×": own * others, "/": own / others, "/ from": others / own, "/²": own / others**2, "/² from": others / own**2}
    return sums, scaled


def ratios(wanted, result):
    ratio = wanted[wanted != 0, None] / result[wanted != 0]
    return np.where(np.isnan(ratio), np.inf, ratio).T if len(ratio) else np.ones((result.shape[1], 1))


def unit(scale):
    """What to multiply with and what to divide by: round numbers where they are near, as 10,000 and 60 are."""
    for factor, divides in [(1 / scale, True), (scale, False)]:
        near = float(f"{factor:.3g}")
        if np.isfinite(near) and near and abs(factor / near - 1) < 2e-4 and (not divides or abs(scale) < 1 and near % 1 == 0):
            return (1, near) if divides else (near, 1)
    return float(scale), 1


def made_of_two(values, wanted, names):
    """Pairs of columns whose sum, difference, mean, product or ratio is the target in nearly every row, and the scale."""
    found, near = [], max(1e-4 * wanted.std(), rounding(wanted))
    for at, name in enumerate(names):
        with np.errstate(all="ignore"):
            sums, scaled = forms_of(values[:, [at]], values[:, at + 1 :])
            for form, result in [*sums.items(), *scaled.items()]:
                units = [unit(np.median(each)) for each in ratios(wanted, result)] if form in scaled else [(1, 1)] * result.shape[1]
                scale = np.array([times / per for times, per in units])
                hits = (np.abs(result * scale - wanted[:, None]) <= near).mean(axis=0) > 0.99
                found += [[name, form, names[at + 1 + other], *units[other]] for other in np.flatnonzero(hits)]
    swapped = {"- from": "-", "/ from": "/", "/² from": "/²"}
    return [[second, swapped[form], first, *scale] if form in swapped else [first, form, second, *scale] for first, form, second, *scale in found]
