# Columns that cannot be features, and why
dropped_columns = {{ v.dropped_columns }}
candidate_columns = [name for name in df.columns if name not in target_names]
#% if v.dropped_columns
df[list(dropped_columns)[:40]].agg(["count", "nunique"]).T
#% endif
