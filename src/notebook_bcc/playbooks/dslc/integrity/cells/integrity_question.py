#% if v.task == "multilabel"
df_clean[target_names] = df_clean[target_names].astype("int64")
df_clean[target_names].mean().to_frame({{ "为是的比例" if lang == "zh" else "share of yes" }})
#% elif v.target_names | length > 1
df_clean[target_names].describe(include="all")
#% else
#% if v.target_to_whole
df_clean[target] = df_clean[target].astype("int64")
#% endif
#% if v.task == "regression"
df_clean[target].describe().to_frame()
#% else
df_clean[target].value_counts().head(30).to_frame({{ "行数" if lang == "zh" else "rows" }})
#% endif
#% endif
