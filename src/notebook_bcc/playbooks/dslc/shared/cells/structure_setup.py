import logging
import warnings
from pathlib import Path

# Which fonts matplotlib looks for, and where it keeps them, is no news for a reader.
logging.getLogger("matplotlib").setLevel(logging.ERROR)

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

Path("figures").mkdir(exist_ok=True)
pd.set_option("display.max_columns", 20, "display.max_colwidth", 60, "display.width", 160)
# Four digits stay together: a year is no 2,018.
pd.set_option("display.float_format", lambda value: f"{value:{'' if abs(value) < 10_000 else ','}.6g}")
# Where a package lies on this machine is no news either.
warnings.formatwarning = lambda message, category, *where, **more: f"{category.__name__}: {message}\n"
np.random.seed(0)  # what is drawn by chance is drawn the same way each time
plt.rcParams.update({
    "figure.figsize": (8, 4.5),
    "figure.constrained_layout.use": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
})


def label_of(value, most=40):
    """A name or value as a label of a figure: not too long, and a dollar sign begins no formula."""
    return " ".join(str(value)[:most].split()).replace("$", r"\$")


def plain_ticks(axis):
    """The numbers of a logarithmic axis as people write them: 200,000 instead of a power of ten."""
    low, high = axis.get_view_interval()
    steps = (1,) if high > 1000 * low else (1, 2, 5) if high > 10 * low else (1, 1.5, 2, 3, 4, 5, 6, 8)
    axis.set_major_locator(plt.LogLocator(subs=steps, numticks=9))
    axis.set_major_formatter(lambda value, _: f"{value:,.10f}".rstrip("0").rstrip("."))
    axis.set_minor_formatter(plt.NullFormatter())
