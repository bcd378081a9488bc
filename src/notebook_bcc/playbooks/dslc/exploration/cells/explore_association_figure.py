#% set zh = lang == "zh" and v.cjk_font
shown = pd.Series(association).iloc[::-1]
colors = ["tab:blue" if name in numeric_columns else "tab:orange" for name in shown.index]
fig, ax = plt.subplots(figsize=(8, 1.2 + 0.32 * len(shown)))
ax.barh([label_of(name) for name in shown.index], shown.to_numpy(), color=colors)
ax.set_xlim(0, 1)
ax.set_xlabel({{ "与目标的关联（蓝：数值，橙：类别）" if zh else "association with the target (blue: numbers, orange: categories)" }})
ax.set_title({{ "关联最强的特征" if zh else "Features that go with the target most" }})
fig.savefig("figures/11_association.png", dpi=150, bbox_inches="tight")
plt.show()
#% if v.labels_numbered | default(false)
explain_labels()
#% endif
