#% set zh = lang == "zh"
from sklearn.base import clone

draws = np.random.default_rng(0)
looked_at = X.sample(min(len(X), 200), random_state=0)


def outcome(fitted, table):
    """What is predicted for these rows: a value, or the probability of each class."""
    #% if v.task == "regression"
    return np.asarray(fitted.predict(table), dtype=float)[:, None]
    #% else
    return np.asarray(fitted.predict_proba(table), dtype=float)
    #% endif


def settings_of(name):
    """The values that a column is set to: from its low to its high tenth, or its most frequent values."""
    column = X[name].dropna()
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column) and column.nunique() > 2:
        return list(dict.fromkeys(column.quantile(np.linspace(0.1, 0.9, 7), interpolation="nearest")))
    counts = column.value_counts()
    return sorted(counts[counts >= max(5, 0.02 * len(column))].index[:8], key=str)


def response(fitted, name, settings):
    """The mean prediction when every row has the same value in one column, all others as they are."""
    changed = pd.concat([looked_at] * len(settings), ignore_index=True)
    changed[name] = pd.Series(np.repeat(np.array(settings, dtype=object), len(looked_at))).astype(X[name].dtype)
    return outcome(fitted, changed).reshape(len(settings), len(looked_at), -1).mean(axis=1)


tried = {name: settings_of(name) for name in X.columns if X[name].nunique() > 1}
tried = {name: settings for name, settings in tried.items() if len(settings) > 1}
responses = {name: response(model, name, settings) for name, settings in list(tried.items())[:60]}
largest = sorted(responses, key=lambda name: -np.ptp(responses[name], axis=0).max())[:8]

# The same with models of other rows: how far an effect depends on the rows that happened to be there.
refits, left_out = [], []
for _ in range(8):
    drawn = draws.integers(0, len(X), size=min(len(X), 4000))
    #% if v.task != "regression"
    # Every class stays in the sample.
    drawn = np.concatenate([drawn, [np.flatnonzero((y == label).to_numpy())[0] for label in model.classes_]])
    #% endif
    refits.append(clone(model).fit(X.iloc[drawn], y.iloc[drawn]))
    left_out.append(np.setdiff1d(np.arange(len(X)), drawn)[:1000])


def losses(fitted, table, truth):
    """How far each row is missed."""
    #% if v.task == "regression"
    return (outcome(fitted, table)[:, 0] - truth.to_numpy()) ** 2
    #% else
    given = outcome(fitted, table)[np.arange(len(table)), [list(fitted.classes_).index(one) for one in truth]]
    return -np.log(np.clip(given, 0.01, 1))
    #% endif


def is_needed(name):
    """Whether rows that a refit has not seen are missed further when the column is shuffled, by three standard errors."""
    rises = np.zeros(len(X))
    seen = np.zeros(len(X))
    for fitted, rest in zip(refits, left_out):
        table, truth = X.iloc[rest], y.iloc[rest]
        mixed = table.assign(**{name: draws.permutation(table[name].array)})
        mixed[name] = mixed[name].astype(X[name].dtype)
        rises[rest] += losses(fitted, mixed, truth) - losses(fitted, table, truth)
        seen[rest] += 1
    rises = rises[seen > 0] / seen[seen > 0]
    return bool(rises.mean() > 3 * rises.std(ddof=1) / np.sqrt(len(rises)))


effects = []
bands = {}
for name in largest:
    settings, means = tried[name], responses[name]
    # Of several classes the one whose probability moves most.
    #% if v.task == "binary"
    which = 1
    #% else
    which = int(np.ptp(means, axis=0).argmax())
    #% endif
    is_number = pd.api.types.is_numeric_dtype(X[name]) and not pd.api.types.is_bool_dtype(X[name]) and X[name].nunique() > 2
    curve = means[:, which]
    low, high = (0, len(settings) - 1) if is_number else (int(curve.argmin()), int(curve.argmax()))
    again = np.array([response(one, name, settings)[:, which] for one in refits])
    moved = again[:, high] - again[:, low]
    effect = float(curve[high] - curve[low])
    # Student's t of the eight refits.
    width = 2.365 * float(moved.std(ddof=1))
    ranks = pd.Series(curve).corr(pd.Series(range(len(curve))), method="spearman") if is_number else 0.0
    if not is_number:
        direction = {{ "各类不同" if zh else "differs" }}
    elif abs(ranks) < 0.7:
        direction = {{ "先后不一" if zh else "goes up and down" }}
    else:
        direction = ({{ "上升" if zh else "rises" }} if effect > 0 else {{ "下降" if zh else "falls" }})
    bands[name] = (settings, curve, again, which)
    effects.append({
        "column": name,
        "direction": direction,
        "from": settings[low] if isinstance(settings[low], str) else float(settings[low]),
        "to": settings[high] if isinstance(settings[high], str) else float(settings[high]),
        "effect": effect,
        "low": effect - width,
        "high": effect + width,
        "is_number": is_number,
        #% if v.task != "regression"
        "class": str(model.classes_[which]),
        #% endif
        "sure": abs(effect) > width and is_needed(name),
    })
beats_naive = verdict == "better"
drivers = pd.DataFrame(effects)
drivers_sure = [one for one in effects if one["sure"] and beats_naive]
#% if v.task == "regression"
effect_unit = "value"
#% else
effect_unit = "probability"
#% endif
drivers_found = {one["column"]: round(one["effect"], 6) for one in drivers_sure}
drivers.drop(columns=["is_number"])
