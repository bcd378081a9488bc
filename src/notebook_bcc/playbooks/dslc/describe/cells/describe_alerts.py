#% set zh = lang == "zh"
def text_columns(table):
    return list(table.select_dtypes(exclude=["number", "bool", "datetime"]).columns)


found = []
rows_known = len(raw)
for name, column in raw.items():
    distinct, missing = int(column.nunique()), float(column.isna().mean())
    if missing == 1:
        found.append(("empty", name, 1.0))
        continue
    if missing >= 0.05:
        found.append(("missing", name, missing))
    if distinct == 1:
        found.append(("constant", name, 1.0))
        continue
    is_number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    if distinct == rows_known and rows_known > 20 and (not is_number or pd.api.types.is_integer_dtype(column)):
        found.append(("unique", name, 1.0))
    elif name in text_columns(raw[[name]]) and distinct > 50:
        found.append(("high cardinality", name, distinct))
    if is_number:
        if distinct > 10 and abs(column.skew()) >= 3:
            found.append(("skewed", name, float(column.skew())))
        if distinct > 2 and (column == 0).mean() >= 0.1:
            found.append(("zeros", name, float((column == 0).mean())))
    if 2 <= distinct <= 50 and column.value_counts(normalize=True).iloc[0] >= 0.9:
        found.append(("imbalance", name, float(column.value_counts(normalize=True).iloc[0])))
numbers = raw.select_dtypes("number").iloc[:, :60]
numbers = numbers.loc[:, numbers.nunique() > 1].sample(min(len(raw), 20000), random_state=0)
ranks = numbers.corr("spearman", min_periods=20).abs()
for at, name in enumerate(ranks.columns):
    for other in ranks.columns[at + 1 :]:
        if ranks.loc[name, other] >= 0.9:
            found.append(("high correlation", f"{name} / {other}", float(ranks.loc[name, other])))
duplicate_rows = int(raw.duplicated().sum())
if duplicate_rows:
    found.append(("duplicates", "", duplicate_rows))
alert_count = len(found)
#% if zh
kinds = {
    "empty": "空列", "missing": "缺失", "constant": "常数", "unique": "每行都不同", "high cardinality": "取值很多",
    "skewed": "偏斜", "zeros": "零值多", "imbalance": "不均衡", "high correlation": "高度相关", "duplicates": "重复行",
}
alerts = pd.DataFrame(found, columns=["提示", "列", "数值"]).replace({"提示": kinds})
#% else
alerts = pd.DataFrame(found, columns=["alert", "column", "value"])
#% endif
alert_kinds = {}
for kind, name, value in found:
    alert_kinds.setdefault(kind, []).append(name)
alert_kinds = {kind: names[:8] for kind, names in alert_kinds.items()}
alerts.head(60)
