#% set no_categories = v.category_columns is sequence and v.category_columns | length == 0
#% set no_numbers = v.numeric_columns is sequence and v.numeric_columns | length == 0
from importlib.util import find_spec

#% if no_categories
few_levels, some_levels, many_levels = [], [], []
#% else
levels = X[category_columns].nunique()
few_levels = levels.index[(levels > 1) & (levels <= 40)].tolist()
some_levels = levels.index[(levels > 40) & (levels <= 200)].tolist()
many_levels = levels.index[levels > 200].tolist()
#% endif
#% if no_numbers
number_columns, skewed_columns, code_columns, gap_count = [], [], [], 0
#% else
numbers = X[numeric_columns]
distinct, gap_count = numbers.nunique(), int(numbers.isna().sum().sum())
number_columns = distinct.index[distinct > 1].tolist()
lopsided = (numbers.min() >= 0) & (distinct > 20) & (numbers.skew() > 1)
skewed_columns = lopsided.index[lopsided].tolist()
#% if v.train_rows > 200
whole = (distinct >= 3) & (distinct <= 20) & ((numbers % 1).fillna(0) == 0).all()
code_columns = whole.index[whole].tolist()
#% else
code_columns = []
#% endif
#% endif
#% if v.text_columns is sequence and v.text_columns | length == 0
word_columns, repeated_texts = [], []
#% else

word_columns, repeated_texts = [], []
for name in text_columns[:20]:
    words = X[name].dropna().astype(str).head(5000).str.findall(r"[^\s,()\"/]+").map(set).explode()
    share = words.value_counts() / min(len(X), 5000)
    if share.between(0.01, 0.95).sum() >= 3:  # texts in which hardly a word comes back hold nothing but noise
        word_columns.append(name)
    if X[name].nunique() < 0.8 * len(X):
        repeated_texts.append(name)
#% endif
has_lightgbm = find_spec("lightgbm") is not None
#% if lang == "zh"
print(f"数值 {len(number_columns)} 列（偏斜 {len(skewed_columns)} 列，整数取值很少的 {len(code_columns)} 列，缺失 {gap_count:,} 处），"
      f"类别 {len(few_levels) + len(some_levels) + len(many_levels)} 列，文本 {len(word_columns)} 列")
#% else
print(f"numbers: {len(number_columns)} (skewed: {len(skewed_columns)}, with few whole values: {len(code_columns)}; gaps: {gap_count:,}), "
      f"categories: {len(few_levels) + len(some_levels) + len(many_levels)}, texts: {len(word_columns)}")
#% endif
