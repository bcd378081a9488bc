#% set zh = lang == "zh"
def typical(column):
    """The middle half and the ends of numbers, the most frequent values of anything else."""
    known = column.dropna()
    if known.empty:
        return ""
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column) and known.nunique() > 10:
        first, middle, third = known[~known.isin([np.inf, -np.inf])].quantile([0.25, 0.5, 0.75])
        low, high = known.min(), known.max()
        return f"{low:,.6g} | {first:,.6g} [{middle:,.6g}] {third:,.6g} | {high:,.6g}"
    if pd.api.types.is_datetime64_any_dtype(column):
        return f"{known.min()} … {known.max()}"
    counts = known.value_counts(normalize=True).head(3)
    return ", ".join(f"{str(value)[:30]} ({share:.0%})" for value, share in counts.items())


cards = pd.DataFrame({
    {{ "类型" if zh else "type" }}: raw.dtypes.astype(str),
    {{ "缺失" if zh else "missing" }}: raw.isna().mean().map("{:.1%}".format),
    {{ "不同值" if zh else "distinct" }}: raw.nunique(),
    {{ "典型取值" if zh else "typical values" }}: [typical(raw[name]) for name in raw.columns],
})
cards.head(100)
