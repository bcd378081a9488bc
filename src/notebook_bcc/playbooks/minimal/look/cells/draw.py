import logging
import warnings

# Which fonts this machine has is no news for a reader.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
warnings.filterwarnings("ignore", message="Glyph [0-9]")

import matplotlib.pyplot as plt

fig, ax = plt.subplots(layout="constrained")
table[{{ v.numeric_columns | first }}].plot.hist(ax=ax, bins=30)
ax.set_xlabel({{ v.numeric_columns | first | label }})
ax.set_ylabel("n")
plt.show()
