#% set zh = lang == "zh" and v.cjk_font
#% if v.task == "regression"
fig, ax = plt.subplots()
is_lopsided = target_summary["skew"] > 1.5 and target_summary["min"] > 0
ax.hist(answers, bins=np.geomspace(answers.min(), answers.max(), 41) if is_lopsided else 40, color="tab:blue", edgecolor="white")
if is_lopsided:
    ax.set_xscale("log")
    plain_ticks(ax.xaxis)
ax.axvline(answers.median(), color="tab:orange")
ax.set_xlabel(label_of(target))
ax.set_ylabel({{ "行数" if zh else "rows" }})
ax.set_title({{ "目标列的分布（竖线为中位数）" if zh else "The target; the line is its median" }})
#% else
shown = label_counts.head(20).iloc[::-1]
fig, ax = plt.subplots(figsize=(8, 1.2 + 0.35 * len(shown)))
ax.barh([label_of(name) for name in shown.index], shown.to_numpy(), color="tab:blue")
ax.set_xlabel({{ "行数" if zh else "rows" }})
ax.set_title({{ "目标列的类别" if zh else "Classes of the target" }})
#% endif
fig.savefig("figures/10_target.png", dpi=150, bbox_inches="tight")
plt.show()
#% if v.labels_numbered | default(false)
explain_labels()
#% endif
#% if v.task == "regression"
pd.Series(target_summary).to_frame(target)
#% else
label_counts.head(30).to_frame({{ "行数" if lang == "zh" else "rows" }})
#% endif
