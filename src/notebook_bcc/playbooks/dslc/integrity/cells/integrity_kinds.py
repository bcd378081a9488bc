# Dates may also be numbers such as 20240131, or dates already.
for name, kind in raw.dtypes.items():
    if kind.kind == "M":
        date_formats[str(name)] = ""
    elif kind.kind == "b" and name not in target_names:
        flag_texts.append(str(name))
    elif kind.kind in "iuf" and name not in target_names and raw[name].between(19000101, 21001231).mean() > 0.98:
        text = raw[name].dropna().astype("int64").astype(str)
        if pd.to_datetime(text, format="%Y%m%d", errors="coerce").notna().mean() > 0.99:
            date_formats[str(name)] = "%Y%m%d"
# Only the parts of a date that differ from row to row become columns.
for name, form in date_formats.items():
    text = raw[name] if form == "" else raw[name].astype("string").str.strip().str.replace(r"\.0$", "", regex=True)
    when = pd.to_datetime(text, format=form or None, errors="coerce", utc=True).dropna()
    differ = {
        "year": when.dt.year.nunique(),
        "month": when.dt.month.nunique(),
        "day_of_week": when.dt.day_of_week.nunique(),
        "day_of_year": when.dt.day_of_year.nunique(),
        "hour": when.dt.hour.nunique(),
        "minute": when.dt.minute.nunique(),
        "days": when.dt.normalize().nunique(),
    }
    date_parts[name] = [part for part, count in differ.items() if count > 1 and f"{name}_{part}" not in raw.columns]
