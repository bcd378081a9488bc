column_names = list(raw.columns)
first_columns = column_names[:60]
pd.DataFrame({
    {{ "类型" if lang == "zh" else "type" }}: raw[first_columns].dtypes.astype(str),
    {{ "缺失" if lang == "zh" else "missing" }}: raw[first_columns].isna().sum(),
    {{ "不同值" if lang == "zh" else "distinct" }}: raw[first_columns].nunique(),
    {{ "示例" if lang == "zh" else "example" }}: [
        "".join(raw[name].dropna().head(1).astype(str))[:40] for name in first_columns
    ],
})
