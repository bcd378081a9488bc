#% set zh = lang == "zh" and v.cjk_font
order = comparison.index[::-1]
fig, ax = plt.subplots(figsize=(7, 0.4 * len(order) + 1.2), layout="constrained")
ax.errorbar(comparison.loc[order, "mean"], range(len(order)), xerr=2 * comparison.loc[order, "standard error"], fmt="o", capsize=3)
ax.axvline(baseline_score, color="tab:red", linestyle="--", linewidth=1, label={{ "朴素预测" if zh else "naive forecast" }})
ax.legend(frameon=False)
ax.set_yticks(range(len(order)), order)
ax.grid(axis="x", alpha=0.3)
ax.set(xlabel=metric, title={{ "交叉验证得分，加减两个标准误" if zh else "Score in cross-validation, give or take two standard errors" }})
fig.savefig("figures/20_comparison.png", dpi=150, bbox_inches="tight")
plt.show()
#% if lang == "zh"
comparison.round(4).rename(columns={"mean": "平均", "standard error": "标准误"})
#% else
comparison.round(4)
#% endif
