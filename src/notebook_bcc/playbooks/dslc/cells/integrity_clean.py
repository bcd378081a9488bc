from prepare import prepare

df = prepare(raw)
mended_values = int(sum((df[name].isna() & parsed[name].notna()).sum() for name in {*missing_codes, *only_positive, *limits}))
del parsed, sample, few, lacking, zero, holes
print({{ "行数和列数：" if lang == "zh" else "rows and columns:" }}, *df.shape)
