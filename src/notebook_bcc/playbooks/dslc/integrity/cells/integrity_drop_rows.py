parsed = sample = holes = None  # their memory is needed no more
df_clean = cleaned
#% if v.total_rows
print(raw.iloc[{{ v.total_rows }}].to_string())
df_clean = df_clean.drop(index=df_clean.index[{{ v.total_rows }}])
#% endif
#% if v.row_numbers
copied = df_clean.drop(columns={{ v.row_numbers }}).duplicated()  # with another number, a copy is still a copy
#% else
copied = df_clean.duplicated()
#% endif
print({{ "与其他行完全相同的行：" if lang == "zh" else "rows that are copies of others:" }}, copied.sum())
#% if v.copied_rows and not v.copies_natural
df_clean = df_clean[~copied]
#% endif
#% if v.target_names
print({{ "没有目标值的行：" if lang == "zh" else "rows without the target:" }}, df_clean[target_names].isna().any(axis=1).sum())
#% if v.untargeted_rows and v.untargeted_rows < v.rows_left
df_clean = df_clean.dropna(subset=target_names)
#% endif
#% endif
dropped_rows = len(raw) - len(df_clean)
print({{ "剩余行数：" if lang == "zh" else "rows left:" }}, len(df_clean))
