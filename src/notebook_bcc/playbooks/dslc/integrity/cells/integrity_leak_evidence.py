# A score alone proves nothing. Evident is only what follows from the values themselves.
leaks, suspects = {}, {}


def evidence(name):
    """What shows that the column is the target in disguise; nothing if nothing does."""
    #% if v.task == "regression"
    pairs = few[[name, target]].dropna()
    if (few[name] == few[target]).mean() > 0.99:
        return "same values"
    if related[name] > 0.9995 and len(pairs) > 0.9 * len(few):
        return "same order"
    if 20 <= pairs[name].nunique() <= len(pairs) / 3 and pairs.groupby(name)[target].nunique().max() == 1:
        return "decides"
    #% else
    pairs = pd.DataFrame({"value": few[name], "label": few[target_names].astype(str).agg(" ".join, axis=1)}).dropna()
    few_levels = pairs["value"].nunique() <= max(20, 2 * pairs["label"].nunique())
    if few_levels and len(pairs) > 0.5 * len(few) and pairs.groupby("value")["label"].nunique().max() == 1:
        return "decides"
    #% if v.task == "binary"
    if few[name].dtype.kind in "iuf" and len(pairs) >= 60:
        # All of one class below, all of the other above, and no gap between them: the classes were cut from these values.
        bounds = pairs.groupby("label")["value"].agg(["min", "max"]).sort_values("min")
        gap, spread = bounds["min"].iloc[-1] - bounds["max"].iloc[0], pairs["value"].quantile([0.05, 0.95]).diff().iloc[-1]
        if len(bounds) == 2 and 0 < gap < 0.05 * spread:
            return "threshold"
    #% endif
    #% endif
    return None


def from_the_future(name):
    return re.search(r"(?i)next|future|tomorrow|outcome|afterw|post_|_result|final_|下期|下月|未来|结果", name)


for name, score in single_scores.items():
    if found := evidence(name):
        leaks[name] = found
    elif score > {{ 0.98 if v.task == "regression" else 0.995 }} or from_the_future(name) and score > {{ 0.9 if v.task == "regression" else 0.97 }}:
        suspects[name] = score
#% if v.split_kind == "time" and v.task == "regression"
# In ordered rows, a column may also hold what comes next.
ahead = train[[name for name in codes.columns if train[name].dtype.kind in "iuf"]].corrwith(train[target].shift(-1))
leaks |= {str(name): "next row" for name in ahead.index[(ahead.abs() > 0.999).to_numpy()] if name not in leaks}
#% endif
