#% set zh = lang == "zh" and v.cjk_font
# The numbers at a glance: those that vary most in shape first
shown = [str(name) for name in look[numeric_columns].nunique().nlargest(12).index]
rows = -(-len(shown) // 4)
fig, axes = plt.subplots(rows, min(len(shown), 4), figsize=(11, 2.4 * rows), squeeze=False)
for ax, name in zip(axes.flat, shown):
    values = look[name].dropna()
    ax.hist(values.clip(values.quantile(0.005), values.quantile(0.995)), bins=30, color="tab:blue")
    ax.set_title(label_of(name, 28), fontsize=10)
    ax.set_yticks([])
for ax in axes.flat[len(shown) :]:
    ax.set_visible(False)
fig.suptitle({{ "数值列的分布" if zh else "Distributions of the numeric columns" }})
fig.savefig("figures/10_distributions.png", dpi=150, bbox_inches="tight")
plt.show()
#% if v.labels_numbered | default(false)
explain_labels()
#% endif
