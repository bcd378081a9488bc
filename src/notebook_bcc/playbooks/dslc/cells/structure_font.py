from matplotlib import font_manager

families = [
    "Noto Sans CJK SC", "Source Han Sans SC", "Source Han Sans CN", "PingFang SC", "Hiragino Sans GB", "Heiti SC",
    "Microsoft YaHei", "SimHei", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Noto Sans SC", "Noto Sans CJK JP",
    "Noto Sans CJK TC", "Noto Serif CJK SC", "Droid Sans Fallback", "Arial Unicode MS",
]  # fmt: skip
installed = set(font_manager.get_font_names())
cjk_font = next((family for family in families if family in installed), "")
if cjk_font:
    plt.rcParams["font.family"] = ["DejaVu Sans", cjk_font]
font_note = "" if cjk_font else "no font for these scripts"
