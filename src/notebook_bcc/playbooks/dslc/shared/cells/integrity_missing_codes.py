# Numbers that stand for "missing"
def codes_among(values, *, is_target):
    """Numbers that stand for "missing": the usual ones, or one repeated value far from all others."""
    codes, usual = [], [-99, -999, -9999, -99999, 999, 9999, 99999, 999999]
    rest = values[~np.isin(values, usual)]
    if len(rest) < 3 or rest[0] == rest[-1]:
        return codes
    for code in sorted({float(values[0]), float(values[-1])} - {float(rest[0]), float(rest[-1])}):
        codes += [code] if code < 0 <= rest[0] or code > 3 * rest[-1] > 0 else []
    for code in {float(rest[0]), float(rest[-1])} - {0.0}:
        others = rest[rest != code]
        if (rest == code).sum() < 3 or len(np.unique(others)) < 10:
            continue
        gap, span = min(abs(others[0] - code), abs(others[-1] - code)), others[-1] - others[0]
        # The only negative number may be close to the others, but then it stands out by how often it occurs.
        next_counts = np.unique(others, return_counts=True)[1][:5]
        lonely = code < 0 <= others[0] and (rest == code).sum() > next_counts.max() and not is_target
        codes += [code] if gap > 1.5 * span or lonely else []
    return codes


def impossible_outside(name, words, middle, values):
    """Limits that no true value passes, where some do: ages, percentages and years have them."""
    low, high = float(values[0]), float(values[-1])
    if ("age" in words or "年龄" in name) and 18 < middle < 80 and (high > 120 or low < 0):
        return [0, 120]
    if (name.endswith("%") or {"percent", "pct"} & words) and 1 < middle <= 100 and 0 < (values > 100).mean() < 0.01:
        return [0, 100]
    if {"year", "yr"} & words and 1800 < middle < 2100 and (high > 2100 or low < 1800):
        return [1800, 2100]
    return None
