#% if v.metric == "log_rmse"
from sklearn.compose import TransformedTargetRegressor
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
#% if v.metric == "log_rmse"
model = TransformedTargetRegressor(model, func=np.log, inverse_func=np.exp)
#% endif
