import matplotlib.pyplot as plt

fig, ax = plt.subplots(layout="constrained")
table[{{ v.numeric_columns | first }}].plot.hist(ax=ax, bins=30)
ax.set_xlabel({{ v.numeric_columns | first | label }})
ax.set_ylabel({{ "行数" if lang == "zh" else "rows" }})
plt.show()
