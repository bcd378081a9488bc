#% if v.metric == "log_rmse"
def loss(forecast, rows):
    return float(np.mean((np.log(truth[rows]) - forecast[rows]) ** 2))
#% elif v.task == "regression"
def loss(forecast, rows):
    return float(np.mean((truth[rows] - forecast[rows]) ** 2))
#% else
column = np.searchsorted(classes, truth)


def loss(forecast, rows):
    return -float(np.mean(np.log(np.clip(forecast[rows, column[rows]], 1e-6, 1))))
#% endif


def weighed(rows):
    """Twenty votes, each for the candidate that improves the average most; one with a single vote is left out."""
    votes = dict.fromkeys(forecasts, 0)
    total = np.zeros_like(forecasts[best_single], dtype=float)
    for given in range(20):
        best = min(forecasts, key=lambda name: loss((total + forecasts[name]) / (given + 1), rows))
        votes[best] += 1
        total += forecasts[best]
    kept = {name: count for name, count in sorted(votes.items(), key=lambda vote: -vote[1]) if count >= 2}
    alone = min(forecasts, key=lambda name: loss(forecasts[name], rows))
    kept = kept if loss(average(kept), rows) < loss(forecasts[alone], rows) else {alone: 1}
    return {name: round(count / sum(kept.values()), 4) for name, count in kept.items()}


def average(weights):
    return sum(weight * forecasts[name] for name, weight in weights.items()) / sum(weights.values())


every_row = np.arange(len(truth))
chosen = weighed(every_row)
# Weights that were chosen on the rows they are judged by would flatter: each fold is forecast with the weights of the others.
#% if v.split_kind == "time"
blended = average(chosen)
for a, b in zip(starts[1:], starts[2:]):
    blended[a:b] = average(weighed(every_row[:a]))[a:b]
#% else
blended = np.zeros_like(forecasts[best_single], dtype=float)
for a, b in zip(starts, starts[1:]):
    blended[a:b] = average(weighed(every_row[~np.isin(checked, checked[a:b])]))[a:b]
#% endif
#% if v.repeat_count > 1
# The chosen ones once more, on other divisions of the rows
again = [sum(weight * out_of_fold(candidates[name], division) for name, weight in chosen.items()) for division in divisions[1:]]
#% endif
cv_score = round(float(np.nanmean(by_fold(blended))), 6)
#% if v.task == "binary" and v.smallest_share < 0.2
# Of a rare class hardly a row gets more than one half: as many rows are called "{{ v.rare_class }}" as there are.
threshold = float(np.quantile(blended[:, list(classes).index(rare_class)], 1 - np.mean(truth == rare_class)))
#% endif
#% if lang == "zh"
print(f"组合模型交叉验证的 {metric}：{plain_number(cv_score)}")
#% else
print(f"{metric} of the blend in cross-validation: {plain_number(cv_score)}")
#% endif
print("   ".join(f"{name}: {weight:.2f}" for name, weight in chosen.items()))
