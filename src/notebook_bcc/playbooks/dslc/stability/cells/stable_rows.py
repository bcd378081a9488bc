#% set n = v.train_rows
from sklearn.base import clone

#% if v.metric == "log_rmse"
from sklearn.compose import TransformedTargetRegressor


def as_used(estimator):
    return TransformedTargetRegressor(estimator, func=np.log, inverse_func=np.exp)


reference = as_used(candidates[best_single])
#% else
reference = candidates[best_single]
#% endif


def guess(estimator, rows):
    #% if v.metric == "roc_auc"
    return estimator.predict_proba(rows)[:, 1]
    #% else
    return estimator.predict(rows)
    #% endif


draws = np.random.default_rng(1)
refit_count, guesses = {{ 6 if n <= 20000 else 4 }}, []
for _ in range(refit_count):
    #% if n > 20000
    sample = np.sort(draws.choice(len(X), size=20_000, replace=False))
    #% else
    sample = np.sort(draws.choice(len(X), size=int(0.8 * len(X)), replace=False))
    #% endif
    guesses.append(guess(clone(reference).fit(X.iloc[sample], y.iloc[sample]), X_holdout))
perturbed_scores = [round(score(y_holdout, one), 5) for one in guesses]
#% if v.task == "regression"
row_doubt = round(float(np.std(guesses, axis=0).mean() / y_holdout.std()), 4)
#% elif v.metric == "roc_auc"
row_doubt = round(float(np.std(guesses, axis=0).mean()), 4)
#% else
row_doubt = round(float(np.mean([one != guesses[0] for one in guesses[1:]])), 4)
#% endif
#% if lang == "zh"
print(f"{best_single} 重新拟合 {refit_count} 次的 {metric}：{plain_number(min(perturbed_scores))} 至 {plain_number(max(perturbed_scores))}")
#% else
print(f"{metric} of {best_single} over {refit_count} refits: {plain_number(min(perturbed_scores))} to {plain_number(max(perturbed_scores))}")
#% endif
