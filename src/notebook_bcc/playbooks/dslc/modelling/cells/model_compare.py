from sklearn.base import clone
#% if v.metric == "log_rmse"
z = np.log(y)  # errors are judged as ratios, so every candidate learns the logarithm
#% elif v.task in ["regression", "multilabel"]
z = y
#% endif
#% if v.task == "regression"
# No forecast goes further beyond what was seen than half of its range{{ ", nor below the least of values that are never negative" if v.target_floor else "" }}.
beyond = float(z.max() - z.min()) / 2
#% if v.target_floor
bounds = (float(z.min()), float(z.max()) + beyond)
#% else
bounds = (float(z.min()) - beyond, float(z.max()) + beyond)
#% endif


def out_of_fold(estimator, folds=folds):
    """What the estimator says about rows it was not fitted on, one fold after another."""
    fitted = ((clone(estimator).fit(X.iloc[fit], z.iloc[fit]), check) for fit, check in folds)
    return np.clip(np.concatenate([one.predict(X.iloc[check]) for one, check in fitted]), *bounds)
#% elif v.task == "multilabel"


def out_of_fold(estimator, folds=folds):
    """What the estimator says about rows it was not fitted on, one fold after another."""
    fitted = ((clone(estimator).fit(X.iloc[fit], z.iloc[fit]), check) for fit, check in folds)
    return np.concatenate([one.predict(X.iloc[check]) for one, check in fitted])
#% endif
#% if v.task in ["regression", "multilabel"]


checked = np.concatenate([check for fit, check in folds])
truth = y.iloc[checked].to_numpy()
forecasts = {name: out_of_fold(estimator) for name, estimator in candidates.items()}
starts = np.cumsum([0] + [len(check) for fit, check in folds])


def by_fold(forecast):
    #% if v.metric == "log_rmse"
    return [score(truth[a:b], np.exp(forecast[a:b])) for a, b in zip(starts, starts[1:])]
    #% else
    return [score(truth[a:b], forecast[a:b]) for a, b in zip(starts, starts[1:])]
    #% endif
#% else

classes = np.unique(y)


def out_of_fold(estimator, folds=folds):
    """The probabilities of rows it was not fitted on; a class that a fold lacks has none."""
    parts = []
    for fit, check in folds:
        fitted = clone(estimator).fit(X.iloc[fit], y.iloc[fit])
        found = pd.DataFrame(fitted.predict_proba(X.iloc[check]), columns=fitted.classes_)
        parts.append(found.reindex(columns=classes, fill_value=0).to_numpy())
    return np.concatenate(parts)


checked = np.concatenate([check for fit, check in folds])
truth = y.iloc[checked].to_numpy()
forecasts = {name: out_of_fold(estimator) for name, estimator in candidates.items()}
starts = np.cumsum([0] + [len(check) for fit, check in folds])


def by_fold(forecast):
    #% if v.metric == "roc_auc"
    guess = forecast[:, 1]
    #% else
    guess = classes[forecast.argmax(axis=1)]
    #% endif
    return [score(truth[a:b], guess[a:b]) for a, b in zip(starts, starts[1:])]
#% endif


comparison = pd.DataFrame({name: by_fold(forecast) for name, forecast in forecasts.items()}).T
comparison = pd.DataFrame({"mean": comparison.mean(axis=1), "standard error": comparison.std(axis=1) / np.sqrt(fold_count)})
comparison = comparison.sort_values("mean", ascending=not higher_is_better)
cv_scores = {name: round(float(mean), 6) for name, mean in comparison["mean"].items()}
best_single = next(iter(cv_scores))
