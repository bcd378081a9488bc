#% if v.task == "regression"
from sklearn.dummy import DummyRegressor

#% if v.metric == "log_rmse"
naive = DummyRegressor(strategy="median")
#% else
naive = DummyRegressor(strategy="mean")
#% endif
#% elif v.metric == "roc_auc"
from sklearn.dummy import DummyClassifier

naive = DummyClassifier(strategy="prior")
#% else
from sklearn.dummy import DummyClassifier

naive = DummyClassifier(strategy="most_frequent")
#% endif
naive_scores = []
for fit, check in folds:
    naive.fit(X.iloc[fit], y.iloc[fit])
    #% if v.metric == "roc_auc"
    guess = naive.predict_proba(X.iloc[check])[:, 1]
    #% else
    guess = naive.predict(X.iloc[check])
    #% endif
    naive_scores.append(score(y.iloc[check], guess))
baseline_score = round(float(np.mean(naive_scores)), 6)
#% if lang == "zh"
print(f"朴素预测：{metric} {plain_number(baseline_score)}，各折从 {plain_number(min(naive_scores))} 到 {plain_number(max(naive_scores))}")
#% else
print(f"naive forecast: {metric} {plain_number(baseline_score)}, from {plain_number(min(naive_scores))} to {plain_number(max(naive_scores))} over the folds")
#% endif
