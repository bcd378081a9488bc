# Time may be told in parts: a column for the year, one for the month
def part_of_time(name):
    """The part of a moment that a column is called after: year, month, hour ..."""
    words = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
    shapes = {
        "day_of_year": r"day_?of_?(the_?)?year|doy|yday",
        "year": r"year|yr|yyyy|年份?",
        "quarter": r"quarter|qtr|季度",
        "month": r"month|mnth|mon|mo|mm|月份?",
        "week": r"week(_?(no|num|number|of_?year))?|wk|周|周数",
        "day": r"day(_?of_?(the_?)?month)?|mday|dom|dd|日",
        "hour": r"hour|hr|hh|小时|时",
        "minute": r"minute|分钟?",
    }
    return next((part for part, shape in shapes.items() if re.search(rf"(^|[^a-z])({shape})$", words)), "")


def parts_in(names):
    """The columns that hold parts of a moment, the largest part first."""
    order = ["year", "quarter", "month", "week", "day_of_year", "day", "hour", "minute"]
    highest = {"quarter": 4, "month": 12, "week": 53, "day_of_year": 366, "day": 31, "hour": 24, "minute": 60}
    found = {}
    for name in names:
        part, column = part_of_time(name), df_clean[name]
        if part and part not in found and column.dtype.kind in "iuf" and column.notna().all() and (column % 1 == 0).all():
            found |= {part: name} if 0 <= column.min() and column.max() <= highest.get(part, 2200) else {}
    return {part: found[part] for part in order if part in found}


def is_calendar(parts):
    return {"year", "month"} <= set(parts) and not {"week", "day_of_year"} & set(parts) and df_clean[parts["year"]].min() > 1900


def moment_of(table, parts):
    """One moment from its parts; a number that grows with time where they make no calendar date."""
    if is_calendar(parts):
        known = {part: table[name] for part, name in parts.items() if part != "quarter"}
        return pd.to_datetime(pd.DataFrame({"day": 1, **known}), errors="coerce")
    moment = 0
    for name in parts.values():
        moment = moment * 1_000 + table[name]
    return moment
