#% if v.metric == "log_rmse"
def loss(forecast):
    return float(np.mean((np.log(truth) - forecast) ** 2))
#% elif v.task == "regression"
def loss(forecast):
    return float(np.mean((truth - forecast) ** 2))
#% else
column = np.searchsorted(classes, truth)


def loss(forecast):
    return -float(np.mean(np.log(np.clip(forecast[np.arange(len(truth)), column], 1e-6, 1))))
#% endif


# Twenty votes, each for the candidate that improves the average most; a candidate with a single vote is left out.
votes = dict.fromkeys(forecasts, 0)
total = np.zeros_like(forecasts[best_single], dtype=float)
for given in range(20):
    best = min(forecasts, key=lambda name: loss((total + forecasts[name]) / (given + 1)))
    votes[best] += 1
    total += forecasts[best]
kept = {name: count for name, count in sorted(votes.items(), key=lambda vote: -vote[1]) if count >= 2}
chosen = {name: round(count / sum(kept.values()), 4) for name, count in kept.items()}
blended = sum(weight * forecasts[name] for name, weight in chosen.items())
cv_score = round(float(np.mean(by_fold(blended))), 6)
#% if lang == "zh"
print(f"组合模型交叉验证的 {metric}：{plain_number(cv_score)}")
#% else
print(f"{metric} of the blend in cross-validation: {plain_number(cv_score)}")
#% endif
print("   ".join(f"{name}: {weight:.2f}" for name, weight in chosen.items()))
