#% set zh = lang == "zh" and v.cjk_font | default("")
numbers = [name for name in raw.select_dtypes("number") if raw[name].nunique() > 10][:12]
categories = [name for name in raw.columns if name not in numbers and 2 <= raw[name].nunique() <= 20][:12]
drawn_numbers, drawn_categories = len(numbers), len(categories)
for kind, names in (("numbers", numbers), ("categories", categories)):
    if not names:
        continue
    wide = min(3, len(names))
    tall = -(-len(names) // wide)
    fig, axes = plt.subplots(tall, wide, figsize=(3.2 * wide, 2.4 * tall), layout="constrained", squeeze=False)
    for ax in axes.flat[len(names) :]:
        ax.set_visible(False)
    for ax, name in zip(axes.flat, names):
        if kind == "numbers":
            ax.hist(raw[name].replace([np.inf, -np.inf], np.nan).dropna(), bins=30)
            ax.locator_params(axis="x", nbins=4)
        else:
            counts = raw[name].value_counts().head(8)[::-1]
            ax.barh([label_of(value, 18) for value in counts.index], counts)
        ax.set_title(label_of(name, 28), fontsize=9)
        ax.tick_params(labelsize=8)
    fig.savefig(f"figures/10_{kind}.png", dpi=150, bbox_inches="tight")
    plt.show()
