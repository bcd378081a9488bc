# Values that cannot be, or hardly: codes for "missing", zeros among lengths, ages above 120, values far away
missing_codes, only_positive, limits, negative_values, far_values = {}, {}, {}, {}, {}


def look_at(name, values):  # sorted ones
    rest = values[~np.isin(values, [-99, -999, -9999, -99999, 999, 9999, 99999, 999999])]
    if len(rest) < 3 or rest[0] == rest[-1]:
        return
    low, high, middle = float(values[0]), float(values[-1]), float(rest[len(rest) // 2])
    for code in sorted({low, high} - {float(rest[0]), float(rest[-1])}):
        if code < 0 <= rest[0] or code > 3 * rest[-1] > 0:
            missing_codes.setdefault(name, []).append(code)
    positive, odd, below = rest[rest > 0], int((rest <= 0).sum()), int((rest < 0).sum())
    words = set(name.lower().replace("_", " ").split())
    warmth = "temp" in words or any(part in name.lower() for part in ("temperat", "celsius", "°", "℃", "温"))
    if 0 < odd <= 0.05 * len(rest) and positive[0] >= 0.3 * middle and len(np.unique(positive)) > 20 and not warmth:
        lacking = parsed[parsed[name] <= 0].isna().mean().max() - parsed.isna().mean().max()  # zero may mean "none"
        if lacking < 0.5 and name not in means_none.values():
            only_positive[name] = odd
    elif 0 < below <= 0.01 * len(rest):
        negative_values[name] = below
    if ("age" in words or "年龄" in name) and 18 < middle < 80 and (high > 120 or low < 0):
        limits[name] = [0, 120]
    elif (name.endswith("%") or {"percent", "pct"} & words) and 1 < middle <= 100 and 0 < (rest > 100).mean() < 0.01:
        limits[name] = [0, 100]
    elif {"year", "yr"} & words and 1800 < middle < 2100 and (high > 2100 or low < 1800):
        limits[name] = [1800, 2100]
    if name in limits:  # what is treated as missing is no value any more
        negative_values.pop(name, None)
    low, high = limits.get(name, [rest[0], rest[-1]])
    kept = rest[(low <= rest) & (rest <= high) & ((rest > 0) | (name not in only_positive))]
    spread = float(kept[int(0.99 * (len(kept) - 1))] - kept[int(0.01 * (len(kept) - 1))])
    far = int((np.abs(kept - middle) > 5 * spread).sum())
    if spread > 0 and far:
        far_values[name] = [far, float(kept[0]), float(kept[-1])]


for name, kind in parsed.dtypes.items():
    if kind.kind in "iuf" and (name not in target_names or parsed[name].nunique() > 20):
        look_at(str(name), np.sort(parsed[name].dropna().to_numpy(dtype=float)))
# Of the target only codes for "missing" are taken out: its odd values are what is to be explained.
for found in (only_positive, limits, negative_values, far_values):
    for name in target_names:
        found.pop(name, None)
del few, lacking, zero
