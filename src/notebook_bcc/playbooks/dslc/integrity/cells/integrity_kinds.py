def digits_of_dates(column):
    """How numbers such as 20240131 or 202401 are read as dates; empty if they are none."""
    for form, low, high in [("%Y%m%d", 19000101, 21001231), ("%Y%m", 190001, 210012)]:
        if column.between(low, high).mean() > 0.98 and column.nunique() > 5 and (column.dropna() % 1 == 0).all():
            if to_date(column.dropna().astype("int64"), form).notna().mean() > 0.99:
                return form
    return ""


def parts_that_differ(when, forms):
    """The parts of a date that are not the same in every row, as far as its forms tell them."""
    known = {part: values.nunique() for part, values in parts_of(when).items()}
    if forms and "%d" not in forms:  # the weekday of a month's first day says nothing
        known = {part: known[part] for part in ("year", "month", "hour", "minute", "days")}
    return [part for part, levels in known.items() if levels > 1]


for name, kind in raw.dtypes.items():
    if kind.kind == "M":
        date_formats[str(name)] = ""
    elif kind.kind == "b" and name not in target_names:
        flag_texts.append(str(name))
    elif kind.kind in "iuf" and name not in target_names and (form := digits_of_dates(raw[name])):
        date_formats[str(name)] = form
for name, forms in date_formats.items():
    parts = parts_that_differ(to_date(raw[name], forms), forms)
    date_parts[name] = [part for part in parts if f"{name}_{part}" not in raw.columns]
