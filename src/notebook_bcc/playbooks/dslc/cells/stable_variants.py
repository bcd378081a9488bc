#% set zh = lang == "zh"
linear = as_used(candidates[{{ "ridge" if v.task == "regression" else "logistic" }}])


def changed(estimator, ending, value):
    """The estimator with every parameter of this name set anew; deprecated ones stay alone."""
    known = {name: old for name, old in estimator.get_params().items() if name.endswith(ending)}
    return clone(estimator).set_params(**{name: value for name, old in known.items() if str(old) != "deprecated"})


variants = [({{ "模型" if zh else "model" }}, name, as_used(estimator)) for name, estimator in candidates.items() if name != best_single]
variants += [({{ "种子" if zh else "seed" }}, f"{best_single}, {seed}", changed(reference, "random_state", seed)) for seed in (1, 2, 3)]
gaps = ("numbers__simpleimputer__strategy", "logarithms__simpleimputer__strategy")
variants += [
    ({{ "插补" if zh else "imputation" }}, {{ "线性，" if zh else "linear, " }} + way, changed(linear, gaps, way))
    for way in ("median", "mean", "most_frequent")
    if X[numeric_columns].isna().to_numpy().any()
]
#% if not (v.skewed_columns is sequence and v.skewed_columns | length == 0)
variants += [({{ "变换" if zh else "transformation" }}, {{ "线性，不取对数" if zh else "linear, no logarithms" }}, changed(linear, "logarithms__functiontransformer-2__func", None))]
#% endif
#% if v.metric == "log_rmse"
variants += [({{ "变换" if zh else "transformation" }}, {{ "目标不取对数" if zh else "target as it is" }}, candidates[best_single])]
#% elif v.task == "regression" and v.target_positive
from sklearn.compose import TransformedTargetRegressor

as_logarithm = TransformedTargetRegressor(reference, func=np.log, inverse_func=np.exp)
variants += [({{ "变换" if zh else "transformation" }}, {{ "目标取对数" if zh else "logarithm of the target" }}, as_logarithm)]
#% endif
