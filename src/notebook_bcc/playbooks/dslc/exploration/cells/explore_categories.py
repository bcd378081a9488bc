levels = pd.DataFrame(
    [
        {
            {{ "列" if lang == "zh" else "column" }}: name,
            {{ "类别数" if lang == "zh" else "levels" }}: int(look[name].nunique()),
            {{ "最常见" if lang == "zh" else "most frequent" }}: str(look[name].mode().iloc[0])[:40] if look[name].notna().any() else "",
            {{ "占比" if lang == "zh" else "share" }}: round(float(look[name].value_counts().max() / len(look)), 3),
            {{ "缺失" if lang == "zh" else "missing" }}: round(float(look[name].isna().mean()), 3),
        }
        for name in [*category_columns, *text_columns][:40]
    ]
)
nearly_constant = [name for name in category_columns if look[name].value_counts(normalize=True, dropna=False).iloc[0] > 0.95]
levels
