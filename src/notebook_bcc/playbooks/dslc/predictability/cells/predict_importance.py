#% set zh = lang == "zh" and v.cjk_font
#% set few = v.holdout_rows < 200 and v.task != "multilabel"
#% set most = 200 if v.word_columns | length > 0 else (2000 if v.feature_count <= 30 else 300)
from statistics import NormalDist

#% if v.metric == "log_rmse"
from sklearn.metrics import r2_score


def quality(actual, guess):
    """R² of the logarithms: errors are judged as ratios."""
    return r2_score(np.log(actual), np.log(np.maximum(guess, smallest_price)))
#% elif v.task == "regression"
from sklearn.metrics import r2_score as quality
#% else
quality = score
#% endif


def forecasts_of(fitted, table):
    #% if v.derived_columns is defined
    table = derive(table)
    #% endif
    #% if v.metric == "roc_auc"
    return fitted.predict_proba(table)[:, 1]
    #% else
    return np.asarray(fitted.predict(table))
    #% endif


# Whole columns of the table are shuffled before anything is derived from them, on rows that the model has not seen.
some = holdout.sample(min(len(holdout), {{ most }}), random_state=0)
parts = [(model, some[given_features])]
#% if few
# So few rows say little alone: each fold is forecast by a model of the other folds.
parts += [(clone(model).fit(X.iloc[fit], y.iloc[fit]), train[given_features].iloc[check]) for fit, check in folds[:fold_count]]
#% endif
#% if v.task == "multilabel"
answers = some[targets].to_numpy()
#% elif few
answers = pd.concat([some[target], *(y.iloc[check] for fit, check in folds[:fold_count])]).to_numpy()
#% else
answers = some[target].to_numpy()
#% endif
draws = np.random.default_rng(0)
resamples = [draws.integers(0, len(answers), size=len(answers)) for _ in range(50)]


def quality_without(members, seed):
    """The score with these columns shuffled: of all rows, then of resampled ones."""
    order = np.random.default_rng(seed)
    guesses = []
    for fitted, table in parts:
        mixed = table.copy()
        if members:
            mixed[members] = table[members].iloc[order.permutation(len(table))].set_axis(table.index)
        guesses.append(forecasts_of(fitted, mixed))
    guesses = np.concatenate(guesses)
    return np.array([quality(answers, guesses), *(quality(answers[rows], guesses[rows]) for rows in resamples)])


unshuffled, found = quality_without([], 0), {}
for group, members in column_groups.items():
    lost = unshuffled - np.array([quality_without(members, seed) for seed in range(1, 6)])
    luck = np.sqrt(np.nanvar(lost[:, 1:].mean(axis=0), ddof=1) + np.var(lost[:, 0], ddof=1) / len(lost))
    found[group] = (float(lost[:, 0].mean()), float(luck))
importance = pd.DataFrame(found, index=["lost", "luck"]).T.sort_values("lost", ascending=False)
# Part of a loss is luck. The more columns are tried, the further one of them gets by luck alone.
surely = NormalDist().inv_cdf(1 - 0.025 / len(importance))
named = importance[importance["lost"] > surely * importance["luck"]].head(15)
importance_top = {group: round(float(lost), 5) for group, lost in named["lost"].head(5).items()}
importance_luck = {group: round(float(luck), 5) for group, luck in named["luck"].head(5).items()}
if len(named):
    fig, ax = plt.subplots(figsize=(7, 0.32 * len(named) + 1.2), layout="constrained")
    ax.barh([label_of(group) for group in named.index[::-1]], named["lost"][::-1], xerr=1.96 * named["luck"][::-1], ecolor="0.4")
    ax.set(xlabel={{ ("打乱后 R² 的损失" if zh else "R² lost when shuffled") if v.task == "regression" else ("打乱后得分的损失" if zh else "score lost when shuffled") }}, title={{ "模型依赖的列" if zh else "What the model relies on" }})
    fig.savefig("figures/31_importance.png", dpi=150, bbox_inches="tight")
    plt.show()
#% if v.labels_numbered | default(false)
explain_labels()
#% endif
