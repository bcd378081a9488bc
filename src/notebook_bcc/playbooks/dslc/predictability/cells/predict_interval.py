#% if v.task == "multilabel"
rows, draws = len(y_holdout), np.random.default_rng(0)
samples = [draws.integers(0, rows, size=rows) for _ in range(400)]
resampled = np.array([score(y_holdout.iloc[sample], holdout_predicted.iloc[sample]) for sample in samples])
ahead = np.array([one - score(y_holdout.iloc[sample], holdout_naive[sample]) for one, sample in zip(resampled, samples)])
# So few rows can agree by luck: the error is never taken smaller than the scores of the folds differ.
estimate, naive_estimate = holdout_score, naive_holdout
estimate_se = round(max(float(resampled.std(ddof=1)), float(np.std(by_fold(forecasts[best_single]), ddof=1))), 6)
estimate_low, estimate_high = round(max(0, estimate - 1.96 * estimate_se), 6), round(min(1, estimate + 1.96 * estimate_se), 6)
gain, gain_low, gain_high = (round(float(one), 6) for one in (estimate - naive_estimate, *np.quantile(ahead, [0.025, 0.975])))
#% elif v.task == "regression"
from scipy.stats import t as student

#% if v.metric == "log_rmse"
squared = tested.assign(
    model=(np.log(tested["actual"]) - np.log(tested["guess"])) ** 2, naive=(np.log(tested["actual"]) - np.log(tested["naive"])) ** 2
)
#% else
squared = tested.assign(model=(tested["actual"] - tested["guess"]) ** 2, naive=(tested["actual"] - tested["naive"]) ** 2)
#% endif
totals = squared.groupby("unit").agg(model=("model", "sum"), naive=("naive", "sum"), rows=("row", "size")).to_numpy(dtype=float)


def log_mean(sums, rows):
    """The logarithm of the mean squared error, and its standard error."""
    mean = sums.sum() / rows.sum()
    spread = np.sqrt(np.sum((sums - mean * rows) ** 2) * len(rows) / (len(rows) - 1)) / rows.sum() / mean
    return np.log(mean), max(spread, least)


#% if v.split_kind == "time"
least = 0.0  # folds that learn from ever more rows differ for that reason alone
#% else
# Rows can agree by luck: never surer than the scores of the folds are alike.
least = 2 * float(np.std(np.log(by_fold(blended)), ddof=1)) / np.sqrt(fold_count)
#% endif
sums, naive_sums, rows = totals.T
middle, spread = log_mean(sums, rows)
# A few large errors make most of the mean: it is as uncertain as so few numbers are.
step = student.ppf(0.975, max(4, sums.sum() ** 2 / (sums**2).sum() - 1))
#% if v.split_kind == "time"
upper, upper_spread = middle, spread
#% else
# The worst may be yet to come: one more, twice as bad in its square.
worst = 2 * (sums / rows).max() * rows.mean()
upper, upper_spread = log_mean(np.append(sums, worst), np.append(rows, rows.mean()))
#% endif
estimate, naive_estimate = (round(float(np.sqrt(one.sum() / rows.sum())), 6) for one in (sums, naive_sums))
estimate_se = round(estimate * float(spread) / 2, 6)
estimate_low, estimate_high = (round(float(np.exp(one / 2)), 6) for one in (middle - step * spread, upper + step * upper_spread))
# How much smaller than the naive error, on the same rows
draws = np.random.default_rng(0)
samples = (draws.integers(0, len(rows), size=len(rows)) for _ in range(1000))
ratios = [np.sqrt(sums[sample].sum() / naive_sums[sample].sum()) for sample in samples]
gain, gain_high, gain_low = (round(float(1 - one), 6) for one in (estimate / naive_estimate, *np.quantile(ratios, [0.025, 0.975])))
#% else
def with_interval(share, right, counted, chances):
    """A share, its standard error and its 95 % interval, which stays between 0 and 1."""
    pulls = ((right - share) / counted).groupby(tested["unit"]).sum()
    spread = float(np.sqrt((pulls**2).sum() * len(pulls) / (len(pulls) - 1)))
    # Rows can agree by luck: never surer than with two more right and two more wrong.
    middle = (share * chances + 2) / (chances + 4)
    spread = max(spread, float(np.sqrt(middle * (1 - middle) / (chances + 4))))
    odds, reach = middle / (1 - middle), np.exp(1.96 * spread / (middle * (1 - middle)))
    low, high = odds / reach / (1 + odds / reach), odds * reach / (1 + odds * reach)
    return tuple(round(float(one), 6) for one in (share, spread, min(low, share), max(high, share)))


#% if v.task == "binary"
def right_order(own):
    """For each row: of the rows of the other class that the same model forecast, the share that it is ranked rightly to."""
    higher = own["actual"] == classes[1]
    lower_ones = own["probability"].rank() - own.groupby("actual")["probability"].rank()
    share = lower_ones / np.where(higher, (~higher).sum(), higher.sum())
    return share.where(higher, 1 - share) if own["actual"].nunique() == 2 else share * np.nan


# The area under the ROC curve is the mean of these shares.
ranked = pd.concat([right_order(own) for _, own in tested.groupby("fold")]).dropna()
in_class = tested["actual"].loc[ranked.index]
rarer_rows = int(tested.loc[ranked.index].groupby("actual")["row"].nunique().min())
auc, auc_se, auc_low, auc_high = with_interval(
    float(ranked.groupby(in_class).mean().mean()), ranked, in_class.map(in_class.value_counts()), rarer_rows
)
#% endif
#% if v.metric == "roc_auc"
estimate, estimate_se, estimate_low, estimate_high, naive_estimate = auc, auc_se, auc_low, auc_high, 0.5
#% else
hits, naive_hits = (tested["guess"] == tested["actual"]).astype(float), (tested["naive"] == tested["actual"]).astype(float)
unit_count = int(tested["unit"].nunique())
estimate, estimate_se, estimate_low, estimate_high = with_interval(float(hits.mean()), hits, len(hits), unit_count)
naive_estimate = round(float(naive_hits.mean()), 6)
#% endif
#% if v.task == "binary"
# Ranking rows better than by chance is what shows that something was learnt.
gain, gain_low, gain_high = (round(one - 0.5, 6) for one in (auc, auc_low, auc_high))
#% else
# How much more often right than the naive forecast, on the same rows
ahead = hits - naive_hits
pulls = ((ahead - ahead.mean()) / len(ahead)).groupby(tested["unit"]).sum()
gain, gain_se = float(ahead.mean()), max(float(np.sqrt((pulls**2).sum())), 1 / tested_rows)
gain, gain_low, gain_high = (round(one, 6) for one in (gain, gain - 1.96 * gain_se, gain + 1.96 * gain_se))
#% endif
#% endif
verdict = "better" if gain_low > 0 else "no better" if gain_high <= 0 else "not shown"
#% if lang == "zh"
print(f"{metric} {plain_number(estimate)}，标准误 {plain_number(estimate_se)}，95% 区间 {plain_number(estimate_low)} 至 {plain_number(estimate_high)}")
print(f"仅留出的数据 {plain_number(holdout_score)}，交叉验证 {plain_number(cv_score)}，朴素预测 {plain_number(naive_estimate)}")
#% else
print(f"{metric} {plain_number(estimate)}, standard error {plain_number(estimate_se)}, 95 % interval {plain_number(estimate_low)} to {plain_number(estimate_high)}")
print(f"rows set aside alone {plain_number(holdout_score)}, cross-validation {plain_number(cv_score)}, naive forecast {plain_number(naive_estimate)}")
#% endif
