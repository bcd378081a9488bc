model.fit(X, y)
#% if v.task == "multilabel"
holdout_predicted = pd.DataFrame(model.predict(X_holdout), index=X_holdout.index, columns=targets)
#% else
holdout_predicted = pd.Series(model.predict(X_holdout), index=X_holdout.index)
#% endif
#% if v.task == "binary"
holdout_probability = pd.Series(model.predict_proba(X_holdout)[:, 1], index=X_holdout.index)
#% endif
#% if v.metric == "roc_auc"
holdout_score = round(score(y_holdout, holdout_probability), 6)
#% else
holdout_score = round(score(y_holdout, holdout_predicted), 6)
#% endif
#% if v.task == "regression"
error = holdout_predicted - y_holdout
#% endif
holdout_naive = naive(train, holdout)
naive_holdout = round(score(y_holdout, holdout_naive), 6)
#% if lang == "zh"
print(f"{metric}：{plain_number(holdout_score)}   朴素预测：{plain_number(naive_holdout)}")
#% else
print(f"{metric}: {plain_number(holdout_score)}   naive forecast: {plain_number(naive_holdout)}")
#% endif
