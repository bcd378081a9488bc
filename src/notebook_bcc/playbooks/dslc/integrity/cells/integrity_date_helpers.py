def to_date(column, forms):
    """A day and time without zone; what none of the forms reads is missing. A month or a quarter is its first day."""
    if column.dtype.kind == "M":
        return pd.to_datetime(column, errors="coerce", utc=True).dt.tz_localize(None)
    text, when = column.astype("string").str.strip().str.replace(r"\.0$", "", regex=True), None
    for form in forms.split(" | "):
        if form == "%Y quarter":
            quarter = pd.to_numeric(text.str.extract(r"[Qq第]([1-4])")[0])
            months = text.str.extract(r"(\d{4})")[0] + "-" + (3 * quarter - 2).astype("string")
            read = pd.to_datetime(months, format="%Y-%m", errors="coerce", utc=True)
        else:
            read = pd.to_datetime(text, format=form or None, errors="coerce", utc=True)
        when = read if when is None else when.fillna(read)
    return when.dt.tz_localize(None)


def parts_of(when):
    return {
        "year": when.dt.year,
        "month": when.dt.month,
        "day_of_week": when.dt.day_of_week,
        "day_of_year": when.dt.day_of_year,
        "hour": when.dt.hour,
        "minute": when.dt.minute,
        "days": (when - pd.Timestamp("2000-01-01")).dt.days,
    }
