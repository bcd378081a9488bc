# A score alone proves nothing. Evident is what follows from the values themselves, or what no honest column reaches.
#% if v.task != "regression"
labels = few[target_names].astype(str).agg(" ".join, axis=1)


def empty_class(name):
    """The class whose rows lack this column while the others have it, and how far the two shares differ."""
    lacking, counts = few[name].isna(), labels.value_counts()
    apart = {label: lacking[labels == label].mean() - lacking[labels != label].mean() for label in counts.index[counts >= 5]}
    label = max(apart, key=apart.get, default="")
    return label, float(apart.get(label, 0.0))


#% endif
def evidence(name):
    """What shows that the column is the target in disguise; nothing if nothing does."""
    #% if v.task == "regression"
    pairs = few[[name, target]].dropna()
    if (few[name] == few[target]).mean() > 0.99:
        return "same values"
    if related[name] > 1 - 1e-9 and len(pairs) > max(60, 0.9 * len(few)):
        return "same order"
    if 20 <= pairs[name].nunique() <= len(pairs) / 3 and pairs.groupby(name)[target].nunique().max() == 1:
        return "decides"
    #% else
    if empty_class(name)[1] > 0.98:
        return "missing decides"
    pairs = pd.DataFrame({"value": few[name], "label": labels}).dropna()
    few_levels = pairs["value"].nunique() <= min(max(20, 2 * pairs["label"].nunique()), len(pairs) / 3)
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
    if single_scores[name] > 0.999 and len(pairs) >= 60:
        return "alone"
    #% endif
    return None
