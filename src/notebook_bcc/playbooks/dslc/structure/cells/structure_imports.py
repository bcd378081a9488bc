from pathlib import Path

import numpy as np
import pandas as pd
