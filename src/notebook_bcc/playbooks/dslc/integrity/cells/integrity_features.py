# The columns that a model may use, by kind
usable = [name for name in candidate_columns if name not in dropped_columns]
numeric_columns = [name for name in usable if train[name].dtype.kind in "biuf"]
#% if v.long_texts is sequence and not v.long_texts
text_columns = []
#% else
text_columns = [name for name in usable if name in {{ v.long_texts if v.long_texts is sequence else "long_texts" | name }}]
#% endif
category_columns = [name for name in usable if name not in numeric_columns and name not in text_columns]
many_levels = [name for name in category_columns if train[name].nunique() > 50]
feature_kinds = [len(numeric_columns), len(category_columns), len(text_columns)]
#% if v.can_model
few = codes = answer = related = single_scores = None  # their memory is needed no more
#% endif
print({{ "数值、类别、文本：" if lang == "zh" else "numbers, categories, texts:" }}, *feature_kinds)
