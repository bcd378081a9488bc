def short(value):
    return label_of(f"{value:g}" if isinstance(value, (int, float)) else value, 14)


#% if v.task == "regression"
def draw(ax, name, rows):
    if name in numeric_columns and rows[name].nunique() > 12:
        ax.scatter(rows[name].clip(*rows[name].quantile([0.005, 0.995])), rows[target], s=8, alpha=0.35, linewidths=0)
    else:
        levels = rows[name].value_counts().index[:12]
        levels = sorted(levels) if name in numeric_columns else list(levels)
        ax.boxplot([rows.loc[rows[name] == level, target] for level in levels], showfliers=False)
        ax.set_xticks(range(1, len(levels) + 1), [short(level) for level in levels], rotation=45, ha="right")
    #% if v.target_summary.skew > 1.5 and v.target_summary.min > 0
    ax.set_yscale("log")
    plain_ticks(ax.yaxis)
    #% endif


#% else
def draw(ax, name, rows):
    labels = rows[target].astype(str)
    usual = labels.value_counts().index[:8]
    if name in numeric_columns and rows[name].nunique() > 12:
        ax.boxplot([rows.loc[labels == label, name].dropna() for label in usual], showfliers=False)
        ax.set_xticks(range(1, len(usual) + 1), [short(label) for label in usual], rotation=30, ha="right")
    else:
        levels = rows[name].value_counts().index[:10]
        shares = pd.crosstab(rows[name], labels, normalize="index").loc[sorted(levels), usual]
        left = np.zeros(len(shares))
        for label in usual:
            ax.bar(range(len(shares)), shares[label], bottom=left, label=short(label), width=0.85)
            left = left + shares[label].to_numpy()
        ax.set_xticks(range(len(shares)), [short(level) for level in shares.index], rotation=45, ha="right")


#% endif
#% set lines = 1 if v.association | length <= 3 else 2
fig, axes = plt.subplots({{ lines }}, 3, figsize=(11, {{ 3.4 * lines }}), squeeze=False)
for ax, name in zip(axes.flat, [*association][:6]):
    draw(ax, name, look.sample(min(len(look), 2_000), random_state=0))
    ax.set_title(label_of(name))
for ax in axes.flat[len(association) :]:
    ax.set_visible(False)
#% if v.task == "regression"
fig.supylabel(label_of(target))
#% else
handles, names = next((found for ax in axes.flat if (found := ax.get_legend_handles_labels())[0]), ([], []))
if handles:
    fig.legend(handles, names, title=label_of(target), loc="outside lower center", ncols=len(names), frameon=False)
#% endif
fig.savefig("figures/12_strongest.png", dpi=150, bbox_inches="tight")
plt.show()
#% if v.labels_numbered | default(false)
explain_labels()
#% endif
