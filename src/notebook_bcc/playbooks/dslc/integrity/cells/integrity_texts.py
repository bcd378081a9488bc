# Columns that hold text; a sample of rows is enough to see what kind of values they are.
target_names = {{ v.targets if v.targets is defined and v.targets else ([v.target] if v.target is defined and v.target else []) }}
text_names = [str(name) for name, kind in raw.dtypes.items() if kind.kind not in "biufcmM"]
sample = raw[text_names].sample(min(len(raw), 5_000, 200 + 5_000_000 // (1 + len(text_names))), random_state=0)
sample = sample.astype("string").apply(lambda column: column.str.strip().replace("", pd.NA))

pd.DataFrame(
    {
        {{ "有值的比例" if lang == "zh" else "filled" }}: sample.notna().mean().round(3),
        {{ "不同取值" if lang == "zh" else "distinct" }}: sample.nunique(),
        {{ "例子" if lang == "zh" else "examples" }}: {
            name: " | ".join(sample[name].dropna().unique()[:3])[:70] for name in text_names[:40]
        },
    },
    index=text_names[:40],
)
