holes = parsed[raw.columns].isna().sum().sort_values(ascending=False, kind="stable")
holes = holes[holes > 0]
missing_cells, missing_columns = int(holes.sum()), len(holes)
most_missing = {str(name): int(count) for name, count in holes.head(12).items()}
holes.head(20).to_frame({{ "缺失行数" if lang == "zh" else "rows missing" }})
