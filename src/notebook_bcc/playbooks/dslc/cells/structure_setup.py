import logging
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

Path("figures").mkdir(exist_ok=True)
pd.set_option("display.max_columns", 30, "display.max_colwidth", 60, "display.width", 160)
pd.set_option("display.float_format", "{:,.6g}".format)
np.random.seed(0)  # what is drawn by chance is drawn the same way each time
plt.rcParams.update({
    "figure.figsize": (8, 4.5),
    "figure.constrained_layout.use": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
})
# Fonts that matplotlib looks for and does not find are no news for a reader.
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
