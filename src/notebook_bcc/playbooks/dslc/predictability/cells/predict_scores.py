#% if v.task == "binary"
from sklearn.metrics import average_precision_score, f1_score, log_loss

#% elif v.task == "multiclass"
from sklearn.metrics import f1_score

#% endif
#% if v.task == "regression"
misses, deviations = tested["guess"] - tested["actual"], tested["actual"] - tested["actual"].mean()
other_scores = {
    #% if v.metric != "rmse"
    "rmse": float(np.sqrt((misses**2).mean())),
    #% endif
    "mae": float(misses.abs().mean()),
    "r2": float(1 - (misses**2).sum() / (deviations**2).sum()),
}
total_ratio = round(float(tested["guess"].sum() / tested["actual"].sum()), 4) if tested["actual"].min() >= 0 else None
# How far off the sum may be by chance alone
total_luck = round(float(1.96 * np.sqrt((misses.groupby(tested["unit"]).sum() ** 2).sum()) / tested["actual"].sum()), 4) if total_ratio else None
#% if v.split_kind == "time"
# What anybody could say who knows the value before
past = pd.concat([train, holdout])
previous = past[target].groupby(series_of(past).to_numpy()).shift().iloc[len(train) :]
previous_score = round(score(y_holdout.to_numpy()[previous.notna()], previous.dropna().to_numpy()), 6)
#% endif
#% elif v.task == "binary"
happened, called = tested["actual"] == rare_class, tested["guess"] == rare_class
chance = tested["probability"] if rare_class == classes[1] else 1 - tested["probability"]
other_scores = {
    #% if v.metric == "roc_auc"
    "accuracy": float((tested["guess"] == tested["actual"]).mean()),
    #% else
    "roc_auc": auc,
    #% endif
    "average_precision": float(average_precision_score(happened, chance)),
    "log_loss": float(log_loss(happened, chance.clip(1e-6, 1 - 1e-6), labels=[False, True])),
    "macro_f1": float(f1_score(tested["actual"], tested["guess"], average="macro", zero_division=0)),
}
# Of the rows that are called {{ v.rare_class }}: how many are, how many of all that are, and how much more often than a random pick
precision, recall = float(happened[called].mean()) if called.any() else 0.0, float(called[happened].mean())
threshold_facts = {"called": round(float(called.mean()), 4), "precision": round(precision, 4), "recall": round(recall, 4)}
threshold_facts["lift"] = round(precision / float(happened.mean()), 2)
# Do probabilities mean what they say? Rows in five groups, from low to high
fifth = chance.rank(method="first", pct=True).mul(5).clip(upper=4.999).astype(int)
calibration = pd.DataFrame({"said": chance, "happened": happened}).groupby(fifth).mean().round(4)
calibration_gap = round(float((calibration["said"] - calibration["happened"]).abs().mean()), 4)
chance_gap = round(float(np.mean(0.8 * np.sqrt(calibration["said"] * (1 - calibration["said"]) * 5 / tested_rows))), 4)
#% elif v.task == "multilabel"
other_scores = {"all labels right": float((holdout_predicted.to_numpy() == y_holdout.to_numpy()).all(axis=1).mean())}
#% else
other_scores = {"macro_f1": float(f1_score(tested["actual"], tested["guess"], average="macro", zero_division=0))}
#% endif
other_scores = {name: float(f"{value:.5g}") for name, value in other_scores.items()}
#% if v.task == "binary"
#% if lang == "zh"
calibration.rename(columns={"said": "预测概率", "happened": "实际比例"})
#% else
calibration.rename(columns={"said": "probability given", "happened": "share that happened"})
#% endif
#% else
print("   ".join(f"{name}: {plain_number(value)}" for name, value in other_scores.items()))
#% endif
