# Columns that cannot be features, and why
dropped_columns = {{ v.dropped_columns }}
candidate_columns = [name for name in df_clean.columns if name not in target_names]
#% if v.dropped_columns
df_clean[list(dropped_columns)[:40]].agg(["count", "nunique"]).T
#% endif
