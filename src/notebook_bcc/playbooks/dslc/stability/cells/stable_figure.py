#% set zh = lang == "zh" and v.cjk_font
#% set sampled = v.train_rows > 20000
shown = [({{ "数据" if lang == "zh" else "rows" }}, "", value) for value in perturbed_scores] + list(results.itertuples(index=False, name=None))
calls = list(dict.fromkeys(call for call, choice, value in shown))[::-1]
fig, ax = plt.subplots(figsize=(8, 0.6 * len(calls) + 1.4), layout="constrained")
for call, choice, value in shown:
    ax.plot(value, calls.index(call), "o", color="tab:blue", alpha=0.6)
ax.axvline(holdout_score, color="black", linewidth=1, label={{ ("选定的模型（全部数据）" if zh else "the chosen model, of all rows") if sampled else ("选定的模型" if zh else "the chosen model") }})
ax.axvspan(estimate_low, estimate_high, color="0.9", zorder=0, label={{ "得分的 95% 区间" if zh else "95 % interval of the score" }})
ax.axvline(naive_holdout, color="tab:red", linestyle="--", linewidth=1, label={{ "朴素预测" if zh else "naive forecast" }})
#% if lang == "zh" and not zh
names = {"数据": "rows", "模型": "model", "种子": "seed", "插补": "imputation", "变换": "transformation", "目标的尺度": "scale of the target"}
ax.set_yticks(range(len(calls)), [names[call] for call in calls])
#% else
ax.set_yticks(range(len(calls)), calls)
#% endif
ax.set(xlabel=metric, title={{ ("换数据或换做法时的得分（各用 20,000 行）" if zh else "The score with other rows and other choices, of 20,000 rows each") if sampled else ("换数据或换做法时的得分" if zh else "The score with other rows and other choices") }})
ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=3, frameon=False)
fig.savefig("figures/40_stability.png", dpi=150, bbox_inches="tight")
plt.show()
#% if lang == "zh"
results.round(4).rename(columns={"call": "做法", "choice": "选择", "score": "得分"})
#% else
results.round(4)
#% endif
