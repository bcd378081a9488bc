missing_share = float(raw.isna().to_numpy().mean())
empty_columns = int(raw.isna().all().sum())
number_count = raw.select_dtypes("number").shape[1]
text_count = raw.select_dtypes(exclude=["number", "bool", "datetime"]).shape[1]
#% if lang == "zh"
print(f"数值列 {number_count}，文本列 {text_count}，空单元格 {missing_share:.1%}")
#% else
print(f"{number_count} columns of numbers, {text_count} of text, {missing_share:.1%} of the cells empty")
#% endif
