#% set zh = lang == "zh" and v.cjk_font
from sklearn.inspection import permutation_importance

some = X_holdout.sample(min(len(X_holdout), {{ 200 if v.word_columns | length > 0 else (2000 if v.feature_count <= 30 else 300) }}), random_state=0).index
shuffled = permutation_importance(
    model,
    X_holdout.loc[some],
    y_holdout.loc[some],
    n_repeats=3,
    random_state=0,
    #% if v.task == "regression"
    scoring="r2",
    #% elif v.task == "multilabel"
    scoring="f1_macro",
    #% else
    scoring={{ v.metric }},
    #% endif
)
importance = pd.Series(shuffled.importances_mean, index=features).sort_values(ascending=False)

# Part of a loss is luck, of the shuffle and of these rows: a column is named if its loss remains in samples of the rows.
looked, actual = X_holdout.loc[some], y_holdout.loc[some]
chance = np.random.default_rng(0)
resamples = [chance.integers(0, len(looked), size=len(looked)) for _ in range({{ 20 if v.task == "multilabel" else 100 }})]
#% if v.metric == "roc_auc"
resamples = [sample for sample in resamples if actual.iloc[sample].nunique() == 2]
#% endif


def resampled_scores(table):
    #% if v.metric == "roc_auc"
    guesses = model.predict_proba(table)[:, 1]
    #% else
    guesses = np.asarray(model.predict(table))
    #% endif
    return np.array([score(actual.iloc[sample], guesses[sample]) for sample in resamples])


def beyond_chance(name):
    mixed, scores = looked.copy(), []
    for seed in (1, 2, 3):
        mixed[name] = looked[name].sample(frac=1, random_state=seed).set_axis(looked.index)
        scores.append(resampled_scores(mixed))
    #% if v.higher_is_better
    return (np.mean(scores, axis=0) < unshuffled).mean() >= 0.975
    #% else
    return (np.mean(scores, axis=0) > unshuffled).mean() >= 0.975
    #% endif


unshuffled = resampled_scores(looked)
importance_top = {name: round(float(value), 5) for name, value in importance.head(5).items() if value > 0 and beyond_chance(name)}
top = importance.head(15)[::-1]
fig, ax = plt.subplots(figsize=(7, 0.32 * len(top) + 1.2), layout="constrained")
ax.barh([label_of(name) for name in top.index], top)
ax.set(xlabel={{ ("打乱后 R² 的损失" if zh else "R² lost when shuffled") if v.task == "regression" else ("打乱后得分的损失" if zh else "score lost when shuffled") }}, title={{ "模型依赖的列" if zh else "What the model relies on" }})
fig.savefig("figures/31_importance.png", dpi=150, bbox_inches="tight")
plt.show()
#% if v.labels_numbered | default(false)
explain_labels()
#% endif
