#% set reasons_zh = {"target missing": "目标列没有值", "too few rows": "有目标值的行太少", "constant target": "目标列处处相同", "several targets": "目标列并不都是“是或否”", "target is a date": "目标列是日期", "target is an identifier": "目标列只是行的编号", "target is not a number": "目标列不是数值", "too few rows in a class": "只有一个类别超过三行", "one class to learn from": "可供学习的行只有一类", "no features": "没有可用于预测的列", "": "没有得到任何得分"}
#% set because = v.cannot_because | default("")
import json

#% if v.problem is defined and v.problem
summary = {"model": None, "reason": {{ v.problem }}}
#% elif v.target_names is defined and v.target_names
summary = {
    "rows": row_count,
    "columns": column_count,
    "model": None,
    "target": ", ".join(target_names),
    "reason": {{ because or "no score was reached" }},
}
#% else
summary = {"rows": row_count, "columns": column_count, "model": None, "reason": "no target was named"}
#% endif
Path("summary.json").write_text(json.dumps(summary, ensure_ascii=False, indent=2), encoding="utf-8")
#% if lang == "zh"
words = {"rows": "行数", "columns": "列数", "target": "目标"}
#% if v.problem is defined and v.problem
lines = ["# 摘要", {{ "- 没有建立模型：" ~ v.problem }}]
#% elif v.target_names is defined and v.target_names
lines = ["# 摘要", {{ "- 没有建立模型：" ~ reasons_zh[because] | default(because) }}]
#% else
lines = ["# 摘要", "- 没有建立模型：没有指定目标列"]
#% endif
lines += [f"- {words[name]}：{summary[name]}" for name in words if name in summary]
#% else
lines = ["# Summary", f"- No model was made: {summary['reason']}"]
lines += [f"- {name}: {summary[name]}" for name in ("rows", "columns", "target") if name in summary]
#% endif
Path("summary.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
print("\n".join(lines))
