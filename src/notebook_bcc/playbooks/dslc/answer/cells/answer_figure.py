import matplotlib.pyplot as plt

shown = pd.Series(first_answers).head(20)[::-1]
fig, ax = plt.subplots(figsize=(7, 0.32 * len(shown) + 1.2), layout="constrained")
ax.barh([name[:40].replace("$", r"\$") for name in shown.index], shown)
ax.spines[["top", "right"]].set_visible(False)
ax.set_xlabel({{ asked.understood | label }}.replace("`", "")[:90])
Path("figures").mkdir(exist_ok=True)
fig.savefig("figures/05_answer.png", dpi=150, bbox_inches="tight")
plt.show()
