#% if v.task == "binary"
from sklearn.metrics import f1_score, roc_auc_score

#% elif v.task == "multiclass"
from sklearn.metrics import f1_score

#% endif
model.fit(X, y)
naive.fit(X, y)
#% if v.task == "binary"
holdout_probability = pd.Series(model.predict_proba(X_holdout)[:, 1], index=X_holdout.index)
holdout_predicted = pd.Series(model.predict(X_holdout), index=X_holdout.index)
#% elif v.task == "multilabel"
holdout_predicted = pd.DataFrame(model.predict(X_holdout), index=X_holdout.index, columns=targets)
#% else
holdout_predicted = pd.Series(model.predict(X_holdout), index=X_holdout.index)
#% endif
#% if v.metric == "roc_auc"
holdout_score = round(score(y_holdout, holdout_probability), 6)
naive_holdout = 0.5
#% else
holdout_score = round(score(y_holdout, holdout_predicted), 6)
naive_holdout = round(score(y_holdout, naive.predict(X_holdout)), 6)
#% endif
#% if v.task == "regression"
error = holdout_predicted - y_holdout
other_scores = {
    #% if v.metric != "rmse"
    "rmse": float(np.sqrt((error**2).mean())),
    #% endif
    "mae": float(error.abs().mean()),
    "r2": float(1 - (error**2).sum() / ((y_holdout - y_holdout.mean()) ** 2).sum()),
}
#% elif v.task == "binary"
other_scores = {
    #% if v.metric == "roc_auc"
    "accuracy": float((holdout_predicted == y_holdout).mean()),
    #% else
    "roc_auc": float(roc_auc_score(y_holdout, holdout_probability)),
    #% endif
    "macro_f1": float(f1_score(y_holdout, holdout_predicted, average="macro", zero_division=0)),
}
#% elif v.task == "multilabel"
other_scores = {"all labels right": float((holdout_predicted.to_numpy() == y_holdout.to_numpy()).all(axis=1).mean())}
#% else
other_scores = {"macro_f1": float(f1_score(y_holdout, holdout_predicted, average="macro", zero_division=0))}
#% endif
other_scores = {name: round(value, 4) for name, value in other_scores.items()}
#% if lang == "zh"
print(f"{metric}：{plain_number(holdout_score)}   朴素预测：{plain_number(naive_holdout)}")
#% else
print(f"{metric}: {plain_number(holdout_score)}   naive forecast: {plain_number(naive_holdout)}")
#% endif
print("   ".join(f"{name}: {plain_number(value)}" for name, value in other_scores.items()))
