# Values that cannot be, or hardly: codes for "missing", zeros among lengths, ages above 120, values far away
missing_codes, only_positive, limits, negative_values, far_values = {}, {}, {}, {}, {}
code_counts = {}


def look_at(name, values):  # sorted ones
    codes = codes_among(values, is_target=name in target_names)
    if codes:
        missing_codes[name] = codes
        code_counts[name] = [int(np.isin(values, codes).sum())]
        values = values[~np.isin(values, codes)]
        code_counts[name] += [float(values[0]), float(values[-1])]
    if len(values) < 3 or values[0] == values[-1]:
        return
    middle = float(values[len(values) // 2])
    positive, odd, below = values[values > 0], int((values <= 0).sum()), int((values < 0).sum())
    words = set(name.lower().replace("_", " ").split())
    warmth = "temp" in words or any(part in name.lower() for part in ("temperat", "celsius", "°", "℃", "温"))
    if 0 < odd <= 0.05 * len(values) and positive[0] >= 0.3 * middle and len(np.unique(positive)) > 20 and not warmth:
        lacking = parsed[parsed[name] <= 0].isna().mean().max() - parsed.isna().mean().max()  # zero may mean "none"
        if lacking < 0.5 and name not in means_none.values():
            only_positive[name] = odd
    elif 0 < below <= 0.01 * len(values):
        negative_values[name] = below
    if found := impossible_outside(name, words, middle, values):
        limits[name] = found
    if name in limits:  # what is treated as missing is no value any more
        negative_values.pop(name, None)
    low, high = limits.get(name, [values[0], values[-1]])
    kept = values[(low <= values) & (values <= high) & ((values > 0) | (name not in only_positive))]
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
