#% if v.total_rows
print(raw.iloc[{{ v.total_rows }}].to_string())
df = df.drop(index=df.index[{{ v.total_rows }}])
#% endif
copied = df.duplicated()
print({{ "与其他行完全相同的行：" if lang == "zh" else "rows that are copies of others:" }}, copied.sum())
#% if v.copied_rows and not v.copies_natural
df = df[~copied]
#% endif
#% if v.target_names
print({{ "没有目标值的行：" if lang == "zh" else "rows without the target:" }}, df[target_names].isna().any(axis=1).sum())
#% if v.untargeted_rows and v.untargeted_rows < v.rows_left
df = df.dropna(subset=target_names)
#% endif
#% endif
dropped_rows = len(raw) - len(df)
print({{ "剩余行数：" if lang == "zh" else "rows left:" }}, len(df))
