import re

#% set zh = lang == "zh"
hints = re.compile(
    r"(?i)target|label|class|outcome|churn|surviv|default|fraud|price|sales|revenue|score|rating|income|salary|status|"
    "目标|标签|价格|销量|收入|流失|评分|结果|等级"
)
candidates = []
for position, (name, column) in enumerate(raw.items()):
    distinct, known = int(column.nunique()), column.dropna()
    if distinct < 2 or len(known) < 0.5 * len(raw):
        continue
    is_number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column) and distinct > 10
    if not is_number and (distinct > 20 or known.value_counts().iloc[-1] < 3):
        continue
    if is_number and pd.api.types.is_integer_dtype(column) and distinct == len(raw):
        continue
    likely = 2 * bool(hints.search(name)) + (position == raw.shape[1] - 1) + (distinct == 2)
    naive = f"± {known[~known.isin([np.inf, -np.inf])].std():,.4g}" if is_number else f"{known.value_counts(normalize=True).iloc[0]:.0%}"
    candidates.append((likely, name, {{ "数值" if zh else "value" }} if is_number else {{ "类别" if zh else "class" }}, naive))
candidates = sorted(candidates, key=lambda one: -one[0])[:5]
suggested_targets = [name for likely, name, kind, naive in candidates]
pd.DataFrame(
    [one[1:] for one in candidates],
    columns={{ ["列", "类型", "不学习的猜测能做到"] if zh else ["column", "kind", "a guess without learning reaches"] }},
)
