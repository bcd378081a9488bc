#% set zh = lang == "zh" and v.cjk_font
# Which numbers rise and fall together?
shown = [str(name) for name in look[numeric_columns].nunique().nlargest(20).index]
together = look[shown].rank().corr()
pairs = together.where(np.triu(np.ones(together.shape, dtype=bool), 1)).stack().dropna()
pairs = pairs.reindex(pairs.abs().sort_values(ascending=False, kind="stable").index)
strong_pairs = [[str(first), str(second), round(float(value), 2)] for (first, second), value in pairs.head(5).items()]
names = [label_of(name, 24) for name in shown]
fig, ax = plt.subplots(figsize=(1.5 + 0.42 * len(shown), 1 + 0.4 * len(shown)))
image = ax.imshow(together, vmin=-1, vmax=1, cmap="RdBu_r")
ax.set_xticks(range(len(shown)), names, rotation=60, ha="right")
ax.set_yticks(range(len(shown)), names)
ax.grid(False)
fig.colorbar(image, shrink=0.8)
ax.set_title({{ "秩相关" if zh else "Correlation of ranks" }})
fig.savefig("figures/11_pairs.png", dpi=150, bbox_inches="tight")
plt.show()
#% if v.labels_numbered | default(false)
explain_labels()
#% endif
