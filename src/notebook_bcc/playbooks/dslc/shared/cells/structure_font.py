# A font for characters that the usual font of figures, DejaVu Sans, does not have
import warnings

from matplotlib import font_manager

families = [
    "Noto Sans CJK SC", "Source Han Sans SC", "Source Han Sans CN", "PingFang SC", "Hiragino Sans GB", "Heiti SC",
    "Microsoft YaHei", "SimHei", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Noto Sans SC", "Noto Sans CJK JP",
    "Noto Sans CJK TC", "Noto Serif CJK SC", "Droid Sans Fallback", "Arial Unicode MS",
]  # fmt: skip
installed = set(font_manager.get_font_names())
cjk_font = next((family for family in families if family in installed), "")
plt.rcParams["font.family"] = ["DejaVu Sans", cjk_font] if cjk_font else ["DejaVu Sans"]
drawable = set()
for family in plt.rcParams["font.family"]:
    drawable.update(font_manager.get_font(font_manager.findfont(family)).get_charmap())
texts = raw.select_dtypes(exclude=["number", "bool", "datetime"])
frequent = [str(value) for name in texts for value in texts[name].value_counts().index[:50]]
labels_numbered = not drawable.issuperset(map(ord, "".join("".join([*map(str, raw.columns), *frequent]).split())))
# A character that a figure lacks all the same, here or on another machine, is no reason for a warning in the notebook.
warnings.filterwarnings("ignore", message="Glyph [0-9]")
