#% set rare = v.task == "binary" and v.smallest_share < 0.2
#% if v.task == "regression"
from functools import partial

from sklearn.compose import TransformedTargetRegressor
#% elif rare
from sklearn.model_selection import FixedThresholdClassifier
#% endif
#% if v.chosen | length == 1
model = clone(candidates[{{ v.chosen | keys | first }}])
#% elif v.task == "regression"
from sklearn.ensemble import VotingRegressor

model = VotingRegressor([(name, candidates[name]) for name in chosen], weights=list(chosen.values()))
#% else
from sklearn.ensemble import VotingClassifier

model = VotingClassifier([(name, candidates[name]) for name in chosen], voting="soft", weights=list(chosen.values()))
#% endif
#% if v.task == "regression"
within = FunctionTransformer(inverse_func=partial(np.clip, a_min=bounds[0], a_max=bounds[1]), check_inverse=False)
#% if v.metric == "log_rmse"
model = TransformedTargetRegressor(model, transformer=make_pipeline(FunctionTransformer(np.log, np.exp), within), check_inverse=False)
#% else
model = TransformedTargetRegressor(model, transformer=within, check_inverse=False)
#% endif
#% elif rare
model = FixedThresholdClassifier(model, threshold=threshold, pos_label=rare_class)
#% endif
