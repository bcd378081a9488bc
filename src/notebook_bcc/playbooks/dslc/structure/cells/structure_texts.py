# Columns of text, by a sample of their rows
text_names = [str(name) for name, kind in raw.dtypes.items() if kind.kind not in "biufcmM"]
sample = raw[text_names].sample(min(len(raw), 5_000), random_state=0)
sample = sample.astype("string").apply(lambda column: column.str.strip().replace("", pd.NA))
