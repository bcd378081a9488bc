#% if v.group_given and v.can_model
dropped_columns[{{ v.group_column }}] = "identifier"  # the rows to predict belong to others
#% endif
#% if v.time_column
df_clean[{{ v.time_column }}].agg(["min", "max", "nunique"]).to_frame()
#% else
df_clean[{{ v.group_column }}].value_counts().describe().to_frame({{ "每个对象的行数" if lang == "zh" else "rows of a subject" }})
#% endif
