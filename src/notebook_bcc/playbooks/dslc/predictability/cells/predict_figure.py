#% set zh = lang == "zh" and v.cjk_font
#% if v.task == "regression"
shown = y_holdout.sample(min(len(y_holdout), 2000), random_state=0).index
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
left.scatter(y_holdout[shown], holdout_predicted[shown], s=10, alpha=0.5, linewidths=0)
ends = [float(min(y_holdout.min(), holdout_predicted.min())), float(max(y_holdout.max(), holdout_predicted.max()))]
left.plot(ends, ends, color="0.4", linewidth=1)
#% if v.metric == "log_rmse"
left.set(xscale="log", yscale="log")
plain_ticks(left.xaxis)
plain_ticks(left.yaxis)
#% endif
left.set(xlabel={{ "实际值" if zh else "actual" }}, ylabel={{ "预测值" if zh else "predicted" }}, title={{ "预测与实际" if zh else "Predicted and actual" }})
right.hist(holdout_predicted - y_holdout, bins=40)
right.axvline(0, color="0.4", linewidth=1)
right.locator_params(axis="x", nbins=5)
right.set(xlabel={{ "预测减实际" if zh else "predicted minus actual" }}, ylabel={{ "行数" if zh else "rows" }}, title={{ "误差" if zh else "Errors" }})
error_quantiles = {str(q): round(float(error.quantile(q)), 4) for q in (0.05, 0.5, 0.95)}
upper_fifth = y_holdout >= y_holdout.quantile(0.8)
bias_upper, bias_rest = (round(float(error[part].mean()), 4) for part in (upper_fifth, ~upper_fifth))
fig.savefig("figures/30_predicted_actual.png", dpi=150, bbox_inches="tight")
plt.show()
#% if v.labels_numbered | default(false)
explain_labels()
#% endif
#% elif v.task == "binary"
from sklearn.calibration import calibration_curve
from sklearn.metrics import ConfusionMatrixDisplay

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
ConfusionMatrixDisplay.from_predictions(
    y_holdout, holdout_predicted, labels=model.classes_, display_labels=[label_of(name) for name in model.classes_],
    ax=left, cmap="Blues", colorbar=False,
)
left.grid(False)
left.set(xlabel={{ "预测" if zh else "predicted" }}, ylabel={{ "实际" if zh else "actual" }}, title={{ "混淆矩阵" if zh else "Confusion matrix" }})
happened = y_holdout == model.classes_[1]
share, mean = calibration_curve(happened, holdout_probability, n_bins=10, strategy="quantile")
right.plot([0, 1], [0, 1], color="0.6", linewidth=1)
right.plot(mean, share, marker="o")
right.set(xlabel={{ "预测概率" if zh else "predicted probability" }}, ylabel={{ "实际发生的比例" if zh else "share that happened" }}, title={{ "校准" if zh else "Calibration" }})
fig.savefig("figures/30_confusion_calibration.png", dpi=150, bbox_inches="tight")
plt.show()
#% if v.labels_numbered | default(false)
explain_labels()
#% endif
#% elif v.task == "multilabel"
by_label = pd.DataFrame({"right": (holdout_predicted == y_holdout).mean(), "share": y_holdout.mean()}).sort_values("right")
fig, ax = plt.subplots(figsize=(7, 0.35 * min(len(by_label), 20) + 1.5), layout="constrained")
ax.barh([label_of(name) for name in by_label.index[:20]], by_label["right"].head(20))
ax.set(xlabel={{ "判断正确的比例" if zh else "share of rows right" }}, title={{ "各标签" if zh else "Label by label" }})
fig.savefig("figures/30_labels.png", dpi=150, bbox_inches="tight")
plt.show()
#% if v.labels_numbered | default(false)
explain_labels()
#% endif
#% else
from sklearn.metrics import ConfusionMatrixDisplay

frequent = y_holdout.value_counts().index[:12]
seen = y_holdout.isin(frequent) & holdout_predicted.isin(frequent)
classes = sorted(frequent)
fig, ax = plt.subplots(figsize=(6.5, 5.5), layout="constrained")
ConfusionMatrixDisplay.from_predictions(
    y_holdout[seen], holdout_predicted[seen], labels=classes, display_labels=[label_of(name) for name in classes],
    ax=ax, cmap="Blues", colorbar=False, xticks_rotation=45, normalize="true", values_format=".2f",
)
ax.grid(False)
ax.set(xlabel={{ "预测" if zh else "predicted" }}, ylabel={{ "实际" if zh else "actual" }}, title={{ "混淆矩阵（按行归一）" if zh else "Confusion matrix (each row sums to 1)" }})
fig.savefig("figures/30_confusion.png", dpi=150, bbox_inches="tight")
plt.show()
#% if v.labels_numbered | default(false)
explain_labels()
#% endif
#% endif
