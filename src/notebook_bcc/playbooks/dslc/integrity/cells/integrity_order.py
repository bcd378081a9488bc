#% if v.group_given and v.can_model
dropped_columns[{{ v.group_column }}] = "identifier"  # the rows to predict belong to others
#% endif
#% if v.moment_parts and v.calendar
# The parts of a moment together
known = {
#% for part, name in v.moment_parts | items
#% if part != "quarter"
    {{ part }}: df_clean[{{ name }}],
#% endif
#% endfor
}
df_clean[{{ v.time_column }}] = pd.to_datetime(pd.DataFrame({"day": 1, **known}), errors="coerce")
#% elif v.moment_parts
# The parts of a moment together, as a number that grows with time
df_clean[{{ v.time_column }}] = 0
for name in {{ v.time_parts }}:
    df_clean[{{ v.time_column }}] = df_clean[{{ v.time_column }}] * 1_000 + df_clean[name]
#% endif
#% if v.time_column
df_clean[{{ v.time_column }}].agg(["min", "max", "nunique"]).to_frame()
#% else
df_clean[{{ v.group_column }}].value_counts().describe().to_frame({{ "每个对象的行数" if lang == "zh" else "rows of a subject" }})
#% endif
