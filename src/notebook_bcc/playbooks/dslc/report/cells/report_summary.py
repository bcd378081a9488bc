import json

summary = {
    #% if v.task == "multilabel"
    "targets": targets,
    #% else
    "target": target,
    #% endif
    "task": {{ v.task }},
    "metric": metric,
    "score": estimate,
    "standard_error": estimate_se,
    "interval_95": [estimate_low, estimate_high],
    "naive_forecast": naive_estimate,
    "better_than_naive": {"better": True, "not shown": None, "no better": False}[verdict],
    "rows_set_aside": holdout_score,
    #% if v.task == "regression"
    "typical_error": other_scores["mae"],
    #% endif
    "cross_validation": cv_score,
    "other_scores": other_scores,
    "split": split_kind,
    #% if v.task == "multilabel"
    "rows": {"learnt from": train_rows, "set aside": holdout_rows},
    #% else
    "rows": {"learnt from": train_rows, "set aside": holdout_rows, "tested": tested_rows},
    #% endif
    "model": chosen,
    #% if "test" in inputs and v.test_problem | default("")
    "predictions": None,
    "no_predictions_because": {{ v.test_problem }},
    #% endif
    "columns_left_out": dropped_columns,
    "leaks": {{ v.leaks if v.leaks is mapping else "leaks" | name }},
}
Path("summary.json").write_text(json.dumps(summary, ensure_ascii=False, indent=2), encoding="utf-8")
#% if lang == "zh"
reasons = {
    "empty": "没有内容", "constant": "处处相同", "identifier": "标识列", "duplicate column": "与另一列相同", "says the same": "与另一列说的是同一件事", "in parts": "已由其各部分代替",
    "not in test": "测试文件中没有", "leak": "泄漏答案",
}  # fmt: skip
left_out = "、".join(f"{name}（{reasons.get(reason, reason)}）" for name, reason in list(dropped_columns.items())[:20])
lines = [
    #% if v.task == "multilabel"
    "# 摘要：" + "、".join(targets),
    #% else
    "# 摘要：" + target,
    #% endif
    "- 任务：{{ {"regression": "回归", "binary": "二分类", "multiclass": "多分类", "multilabel": "多标签分类"}[v.task] }}"
    f"，度量：{metric}（{'越大越好' if higher_is_better else '越小越好'}）",
    f"- 得分：**{plain_number(estimate)}**，标准误 {plain_number(estimate_se)}，95% 区间 {plain_number(estimate_low)} 至 {plain_number(estimate_high)}",
    f"- 朴素预测：{plain_number(naive_estimate)}；仅留出的数据：{plain_number(holdout_score)}；交叉验证：{plain_number(cv_score)}",
    #% if v.task == "regression"
    f"- 平均误差：{plain_number(other_scores['mae'])}，单位与目标相同",
    #% endif
    f"- 训练 {train_rows:,} 行，留出 {holdout_rows:,} 行（划分方式：{{ {"time": "按时间", "group": "按组", "stratified": "分层随机", "random": "随机"}[v.split_kind] | default(v.split_kind) }}）",
    f"- 模型：{'、'.join(f'{name} {weight:.2f}' for name, weight in chosen.items())}",
    f"- 排除的列：{left_out or '无'}",
    #% if "test" in inputs and v.test_problem | default("")
    {{ "- 没有做出预测：" ~ v.test_problem }},
    #% endif
]
#% else
left_out = ", ".join(f"{name} ({reason})" for name, reason in list(dropped_columns.items())[:20])
lines = [
    #% if v.task == "multilabel"
    "# Summary: " + ", ".join(targets),
    #% else
    "# Summary: " + target,
    #% endif
    f"- Task: {{ v.task }}; measure: {metric} ({'higher' if higher_is_better else 'lower'} is better)",
    f"- Score: **{plain_number(estimate)}**, standard error {plain_number(estimate_se)}, "
    f"95 % interval {plain_number(estimate_low)} to {plain_number(estimate_high)}",
    f"- Naive forecast: {plain_number(naive_estimate)}; rows set aside alone: {plain_number(holdout_score)}; cross-validation: {plain_number(cv_score)}",
    #% if v.task == "regression"
    f"- Off by {plain_number(other_scores['mae'])} on average, in the unit of the target",
    #% endif
    f"- Learnt from {train_rows:,} rows, {holdout_rows:,} set aside (split: {split_kind})",
    f"- Model: {', '.join(f'{name} {weight:.2f}' for name, weight in chosen.items())}",
    f"- Columns left out: {left_out or 'none'}",
    #% if "test" in inputs and v.test_problem | default("")
    {{ "- No predictions were made: " ~ v.test_problem }},
    #% endif
]
#% endif
Path("summary.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
print("\n".join(lines).replace("**", ""))
