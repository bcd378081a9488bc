import json

#% if not (v.problem is defined and v.problem)
summary = {
    "rows": row_count,
    "columns": column_count,
    "model": None,
    #% if v.target is defined and v.target
    "target": target,
    "reason": {{ v.cannot_because }},
    #% endif
}
#% else
summary = {"model": None, "reason": {{ v.problem | default("the file could not be read") }}}
#% endif
Path("summary.json").write_text(json.dumps(summary, ensure_ascii=False, indent=2), encoding="utf-8")
lines = [{{ "# 摘要" if lang == "zh" else "# Summary" }}] + [f"- {name}: {value}" for name, value in summary.items()]
Path("summary.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
print("\n".join(lines))
