#% if v.task == "regression"
answers = train[target]
target_summary = {
    "min": float(answers.min()),
    "low": float(answers.quantile(0.05)),
    "median": float(answers.median()),
    "high": float(answers.quantile(0.95)),
    "max": float(answers.max()),
    "skew": round(float(answers.skew()), 2),
    "at_max": round(float((answers == answers.max()).mean()), 4),
}
#% elif v.task == "multilabel"
label_counts = train[target_names].sum().sort_values(ascending=False)
target_summary = {"most": str(label_counts.index[0]), "least": str(label_counts.index[-1])}
#% else
label_counts = train[target].astype(str).value_counts()
target_summary = {
    "most": str(label_counts.index[0]),
    "most_share": round(float(label_counts.iloc[0] / len(train)), 4),
    "least": str(label_counts.index[-1]),
    "least_share": round(float(label_counts.iloc[-1] / len(train)), 4),
}
#% endif
