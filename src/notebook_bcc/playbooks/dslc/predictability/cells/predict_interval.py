#% if v.metric == "roc_auc"
guessed = holdout_probability
#% else
guessed = holdout_predicted
#% endif
draws = np.random.default_rng(0)
rows = len(y_holdout)
#% if v.split_kind == "time"
# Neighbours in time err together, so whole blocks are drawn instead of single rows.
block = max(1, rows // 20)
firsts = [draws.integers(0, rows - block + 1, size=-(-rows // block)) for _ in range(400)]
samples = [(first[:, None] + np.arange(block)).ravel()[:rows] for first in firsts]
#% elif v.split_kind == "group"
# Rows of one group err together, so whole groups are drawn instead of single rows.
members = list(pd.Series(np.arange(rows)).groupby(holdout[{{ v.group_column }}].to_numpy()).indices.values())
samples = [np.concatenate([members[i] for i in draws.integers(0, len(members), size=len(members))]) for _ in range(400)]
#% else
samples = [draws.integers(0, rows, size=rows) for _ in range(400)]
#% endif
#% if v.metric == "roc_auc"
samples = [sample for sample in samples if y_holdout.iloc[sample].nunique() == 2]
#% endif
resampled = np.array([score(y_holdout.iloc[sample], guessed.iloc[sample]) for sample in samples])
spread = float(resampled.std(ddof=1))
# So few rows can agree by luck: the error is never taken smaller than the scores of the folds differ.
#% if v.task == "multilabel"
fold_spread = float(np.std(by_fold(forecasts[best_single]), ddof=1))
#% else
fold_spread = float(np.std(by_fold(blended), ddof=1))
#% endif
#% if v.metric in ["accuracy", "macro_f1"]
# Nor smaller than that of a share with two more rows right and two more wrong: all right would else mean no error.
share = (holdout_score * rows + 2) / (rows + 4)
holdout_se = round(max(spread, fold_spread, float(np.sqrt(share * (1 - share) / (rows + 4)))), 6)
#% else
holdout_se = round(max(spread, fold_spread), 6)
#% endif
#% if v.higher_is_better
holdout_low, holdout_high = round(max(0, holdout_score - 1.96 * holdout_se), 6), round(min(1, holdout_score + 1.96 * holdout_se), 6)
#% else
holdout_low, holdout_high = round(max(0, holdout_score - 1.96 * holdout_se), 6), round(holdout_score + 1.96 * holdout_se, 6)
#% endif
gap = round(holdout_score - cv_score, 6)
#% if lang == "zh"
print(f"{metric} {plain_number(holdout_score)}，标准误 {plain_number(holdout_se)}，95% 区间 {plain_number(holdout_low)} 至 {plain_number(holdout_high)}")
print(f"交叉验证给出的是 {plain_number(cv_score)}")
#% else
print(f"{metric} {plain_number(holdout_score)}, standard error {plain_number(holdout_se)}, 95 % interval {plain_number(holdout_low)} to {plain_number(holdout_high)}")
print(f"cross-validation had said {plain_number(cv_score)}")
#% endif
