def date_inside(values):
    """The formats that read most of the values; day and month are told apart by values above 12."""
    looks = r"\d{1,4}[-/.年]\d{1,2}|[A-Za-z]{3,9}[- ,]+\d{1,4}|^\d{8}$|^\d{1,2}:\d{2}"
    if not len(values) or values.str.contains(looks).mean() < 0.95:
        return []
    days = "%Y-%m-%d %Y/%m/%d %Y.%m.%d %d/%m/%Y %m/%d/%Y %d.%m.%Y %d-%m-%Y %m-%d-%Y %d/%m/%y %m/%d/%y %d.%m.%y %m-%d-%y"
    named = ["%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%Y年%m月%d日", "%b-%Y", "%Y-%m", "%Y%m%d"]
    clocks = ["", " %H:%M", " %H:%M:%S", "T%H:%M:%S", " %H:%M:%S.%f", "T%H:%M:%S.%f", "T%H:%M:%S%z", " %I:%M %p", " %I:%M:%S %p"]
    read = {}
    for form in [day + clock for day in days.split() + named for clock in clocks] + ["%H:%M", "%H:%M:%S"]:
        if pd.to_datetime(values.iloc[:5], format=form, errors="coerce", utc=True).notna().any():
            read[form] = float(pd.to_datetime(values, format=form, errors="coerce", utc=True).notna().mean())
    return [form for form in read if read[form] == max(read.values()) and read[form] >= 0.95]


def falls(column, form):
    """How often the time goes back from one row to the next, read like this."""
    return int((pd.to_datetime(column, format=form, errors="coerce", utc=True).diff() < pd.Timedelta(0)).sum())


def is_yes_no(values):
    words = set(values.str.lower().unique())
    return len(words) > 1 and words <= set("yes y true t 1 ja oui 是 no n false f 0 nein non 否".split())


for name in [each for each in text_names if each not in number_texts]:
    if is_yes_no(sample[name].dropna()):
        flag_texts += [name] if [name] != target_names else []
    elif forms := date_inside(sample[name].dropna().iloc[:1000]):
        # Where no day is above 12 the order of the rows may tell.
        date_formats[name] = min(forms, key=lambda form: falls(raw[name].astype("string").str.strip(), form))
        unclear_dates += [name] if len(forms) > 1 else []
pd.Series(date_formats).to_frame({{ "日期格式" if lang == "zh" else "date format" }}) if date_formats else None
