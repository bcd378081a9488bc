#% if v.train_rows > 20000
some = np.sort(np.random.default_rng(2).choice(len(X), size=20_000, replace=False))
X_some, y_some = X.iloc[some], y.iloc[some]
#% else
X_some, y_some = X, y
#% endif
results = pd.DataFrame(
    [
        (call, choice, score(y_holdout, guess(clone(estimator).fit(X_some, y_some), X_holdout)))
        for call, choice, estimator in variants
    ],
    columns=["call", "choice", "score"],
)
stability = {
    call: {choice: round(float(value), 5) for choice, value in zip(rows["choice"], rows["score"])}
    for call, rows in results.groupby("call", sort=False)
}
spans = {call: round(max(found.values()) - min(found.values()), 5) for call, found in stability.items()}
small_calls = [span for call, span in spans.items() if call != {{ "模型" if lang == "zh" else "model" }}]
#% if v.train_rows > 50000
# Fits on 20,000 rows differ more from each other than fits on all rows would: only the choices count here.
stability_spread = max(small_calls, default=0)
#% else
stability_spread = max([*small_calls, round(max(perturbed_scores) - min(perturbed_scores), 5)])
#% endif
