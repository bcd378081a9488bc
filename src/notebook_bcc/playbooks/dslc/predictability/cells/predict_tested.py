#% set both = v.holdout_rows < 500 or (v.task == "binary" and v.smallest_share * v.holdout_rows < 100)
#% set classes = v.task in ["binary", "multiclass"]
# Every row that a model has forecast without having seen it{{ ": those of the folds as well, because so few rows set aside say little alone" if both else "" }}
tested = pd.DataFrame({"row": len(X) + np.arange(len(X_holdout)), "fold": -1, "actual": y_holdout.to_numpy(), "guess": holdout_predicted.to_numpy(), "naive": holdout_naive})
#% if v.task == "binary"
tested["probability"] = holdout_probability.to_numpy()
#% endif
#% if both
#% if v.repeat_count > 1
every_fold, by_folds = sum(divisions, []), np.concatenate([blended, *again])
#% else
every_fold, by_folds = folds, blended
#% endif
places = np.concatenate([check for fit, check in every_fold])
from_folds = pd.DataFrame({"row": places, "actual": y.to_numpy()[places]})
from_folds["fold"] = np.repeat(np.arange(len(every_fold)), [len(check) for fit, check in every_fold])
#% if v.metric == "log_rmse"
from_folds["guess"] = np.exp(by_folds)
#% elif v.task == "regression"
from_folds["guess"] = by_folds
#% elif v.task == "binary" and v.smallest_share < 0.2
rare = list(classes).index(rare_class)
from_folds["guess"] = np.where(by_folds[:, rare] >= threshold, rare_class, classes[1 - rare])
#% else
from_folds["guess"] = classes[by_folds.argmax(axis=1)]
#% endif
from_folds["naive"] = np.concatenate([naive(train.iloc[fit], train.iloc[check]) for fit, check in every_fold])
#% if v.task == "binary"
from_folds["probability"] = by_folds[:, 1]
#% endif
tested = pd.concat([from_folds, tested], ignore_index=True)
#% endif
#% if v.split_kind == "time"
# Neighbours in time err together: blocks of them are what varies.
tested["unit"] = np.arange(len(tested)) // max(1, len(X_holdout) // {{ 3 if both else 10 }})
#% elif v.split_kind == "group"
# Rows of one group err together: groups are what varies.
tested["unit"] = pd.concat([train[{{ v.group_column }}], holdout[{{ v.group_column }}]]).astype(str).to_numpy()[tested["row"]]
#% else
tested["unit"] = tested["row"]
#% endif
tested_rows = int(tested["row"].nunique())
#% if lang == "zh"
print(f"共 {tested_rows:,} 行，其中留出 {len(X_holdout):,} 行")
#% else
print(f"{tested_rows:,} rows, {len(X_holdout):,} of them set aside")
#% endif
