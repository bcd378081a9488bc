near_copies, near_copy_key = 0, ""
#% if inputs.group is defined and inputs.group
group_column = {{ inputs.group }}
# What was named may be a part that no column has, the same in every row, or another in each: then it puts no rows together.
repeats = group_column in df_clean and 1 < df_clean[group_column].nunique() < df_clean[group_column].notna().sum()
group_column = group_column if repeats else ""
#% else
# Do several rows belong to one subject? Then a subject's rows must not stand on both sides of a split.
own_columns = [name for name in candidate_columns if name in raw.columns]
repeated = [name for name in own_columns if df_clean[name].dtype.kind != "f" or (df_clean[name].dropna() % 1 == 0).all()]
repeated = [name for name in repeated if 20 <= df_clean[name].nunique() < 0.9 * len(df_clean)][:100]
#% if v.can_model
counts = {name: near_copies_under(name) for name in repeated}
near_copy_key = max(counts, key=counts.get, default="")
near_copies = counts.get(near_copy_key, 0)
near_copy_key = near_copy_key if near_copies else ""
#% endif
# A code for each row may begin with the number of its group: 0003_01, 0003_02.
subjects = [f"{name}_1" for name in code_parts if df_clean[name].is_unique and f"{name}_1" in df_clean]
subjects += [name for name in candidate_columns if is_person(name) or is_group(name)]
group_column = near_copy_key or next((name for name in subjects if groups_rows(name)), "")
group_column = group_column or next((name for name in repeated if tells_apart(name)), "")
#% endif
group_given = group_column in raw.columns
group_count = int(df_clean[group_column].nunique()) if group_column else 0
group_rows = round(len(df_clean) / group_count, 2) if group_count else 0
print({{ "分组列：" if lang == "zh" else "column of subjects:" }}, group_column or {{ "无" if lang == "zh" else "none" }})
