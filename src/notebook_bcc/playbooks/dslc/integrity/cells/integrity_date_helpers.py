def to_date(column, form):
    """A day and time without zone; what cannot be read is missing."""
    if column.dtype.kind != "M":
        column = column.astype("string").str.strip().str.replace(r"\.0$", "", regex=True)
    return pd.to_datetime(column, format=form or None, errors="coerce", utc=True).dt.tz_localize(None)


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
