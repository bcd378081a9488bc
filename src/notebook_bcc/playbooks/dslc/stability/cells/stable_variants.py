#% set zh = lang == "zh"
#% set skewed = not (v.skewed_columns is sequence and v.skewed_columns | length == 0)
#% set with_logarithm = v.task == "regression" and v.metric != "log_rmse" and v.target_positive and not v.best_single in ["gamma regression", "poisson regression", "trees for amounts", "trees for counts"]
#% if with_logarithm
from sklearn.compose import TransformedTargetRegressor

#% endif
#% if v.metric == "log_rmse" and (v.gap_count > 0 or skewed)
linear = as_used(candidates["ridge"])


#% elif v.gap_count > 0 or skewed
linear = candidates[{{ "ridge" if v.task == "regression" else "logistic" }}]


#% endif
def changed(estimator, ending, value):
    """The estimator with every parameter of this name set anew; deprecated ones stay alone."""
    known = {name: old for name, old in estimator.get_params().items() if name.endswith(ending)}
    return clone(estimator).set_params(**{name: value for name, old in known.items() if str(old) != "deprecated"})


#% if v.metric == "log_rmse"
variants = [({{ "模型" if zh else "model" }}, name, as_used(estimator)) for name, estimator in candidates.items()]
#% else
variants = [({{ "模型" if zh else "model" }}, name, estimator) for name, estimator in candidates.items()]
#% endif
#% if v.best_single in ["shallow trees", "deep trees", "small trees", "extra trees", "trees for counts", "trees for amounts"]
variants += [({{ "种子" if zh else "seed" }}, f"{best_single}, {seed}", changed(reference, "random_state", seed)) for seed in (0, 1, 2)]
#% endif
#% if v.gap_count > 0
gaps = ("numbers__simpleimputer__strategy", "logarithms__simpleimputer__strategy")
variants += [
    ({{ "插补" if zh else "imputation" }}, {{ "线性，" if zh else "linear, " }} + way, changed(linear, gaps, way))
    for way in ("median", "mean", "most_frequent")
]
#% endif
#% if skewed
variants += [
    ({{ "变换" if zh else "transformation" }}, {{ "线性，取对数" if zh else "linear, logarithms" }}, linear),
    ({{ "变换" if zh else "transformation" }}, {{ "线性，不取对数" if zh else "linear, no logarithms" }}, changed(linear, "logarithms__functiontransformer-2__func", None)),
]
#% endif
#% if v.metric == "log_rmse"
variants += [
    ({{ "目标的尺度" if zh else "scale of the target" }}, {{ "取对数" if zh else "logarithm" }}, reference),
    ({{ "目标的尺度" if zh else "scale of the target" }}, {{ "原样" if zh else "as it is" }}, candidates[best_single]),
]
#% elif with_logarithm
as_logarithm = TransformedTargetRegressor(reference, func=np.log, inverse_func=np.exp)
variants += [
    ({{ "目标的尺度" if zh else "scale of the target" }}, {{ "原样" if zh else "as it is" }}, reference),
    ({{ "目标的尺度" if zh else "scale of the target" }}, {{ "取对数" if zh else "logarithm" }}, as_logarithm),
]
#% endif
