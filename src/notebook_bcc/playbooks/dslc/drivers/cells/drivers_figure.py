#% set zh = lang == "zh" and v.cjk_font
names = [one["column"] for one in drivers_sure][:6]
wide = min(3, len(names))
tall = -(-len(names) // wide)
fig, axes = plt.subplots(tall, wide, figsize=(3.4 * wide, 2.8 * tall), layout="constrained", squeeze=False)
for ax in axes.flat[len(names) :]:
    ax.set_visible(False)
for ax, name in zip(axes.flat, names):
    settings, curve, again, which = bands[name]
    low, high = again.min(axis=0), again.max(axis=0)
    if isinstance(settings[0], str) or len(settings) <= 2 or not pd.api.types.is_numeric_dtype(X[name]):
        places = range(len(settings))
        ax.barh(places, curve, xerr=[np.maximum(curve - low, 0), np.maximum(high - curve, 0)])
        ax.set_yticks(places, [label_of(value, 18) for value in settings], fontsize=8)
    else:
        ax.fill_between(settings, low, high, alpha=0.25, linewidth=0)
        ax.plot(settings, curve, marker="o", markersize=3)
        ax.locator_params(axis="x", nbins=4)
    ax.set_title(label_of(name, 30), fontsize=9)
    ax.tick_params(labelsize=8)
#% if v.task == "regression"
fig.supylabel({{ "平均预测值" if zh else "mean prediction" }}, fontsize=9)
#% else
fig.supylabel({{ "平均预测概率" if zh else "mean predicted probability" }}, fontsize=9)
#% endif
fig.savefig("figures/45_drivers.png", dpi=150, bbox_inches="tight")
plt.show()
#% if v.labels_numbered | default(false)
explain_labels()
#% endif
