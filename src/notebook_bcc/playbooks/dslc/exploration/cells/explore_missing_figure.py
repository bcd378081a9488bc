#% set zh = lang == "zh" and v.cjk_font
shown = missing_share.head(20).iloc[::-1]
fig, ax = plt.subplots(figsize=(8, 1.2 + 0.3 * len(shown)))
ax.barh([label_of(name) for name in shown.index], 100 * shown.to_numpy(), color="tab:gray")
ax.set_xlim(0, 100)
ax.set_xlabel({{ "缺失的行（%）" if zh else "rows without a value (%)" }})
ax.set_title({{ "缺失值最多的列" if zh else "Columns with most missing values" }})
fig.savefig("figures/13_missing.png", dpi=150, bbox_inches="tight")
plt.show()
#% if v.labels_numbered | default(false)
explain_labels()
#% endif
