"""Cells run in this process here; the threads of their fits shall not spin while tests beside them compute."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("MPLBACKEND", "agg")
