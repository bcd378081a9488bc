def forms_of_dates():
    days = "%Y-%m-%d %Y/%m/%d %Y.%m.%d %d/%m/%Y %m/%d/%Y %d.%m.%Y %d-%m-%Y %m-%d-%Y %d/%m/%y %m/%d/%y %d.%m.%y %m-%d-%y"
    named = ["%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%Y年%m月%d日", "%Y%m%d"]
    clocks = ["", " %H:%M", " %H:%M:%S", "T%H:%M:%S", " %H:%M:%S.%f", "T%H:%M:%S.%f", "T%H:%M:%S%z", " %I:%M %p", " %I:%M:%S %p"]
    months = ["%Y-%m", "%Y/%m", "%m/%Y", "%b %Y", "%B %Y", "%b, %Y", "%B, %Y", "%b-%Y", "%B-%Y", "%b-%y", "%Y年%m月", "%Y quarter"]
    return [day + clock for day in days.split() + named for clock in clocks] + months + ["%H:%M", "%H:%M:%S"]


def date_inside(values):
    """The forms that read most of the values, equally well; day and month are told apart by values above 12."""
    looks = r"\d{1,4}[-/.年]\d{1,2}|[A-Za-z]{3,9}[- ,]+\d{1,4}|^\d{8}$|^\d{1,2}:\d{2}"
    quarters = r"\d{4}\W{0,2}[Qq][1-4]|[Qq][1-4]\W{0,2}\d{4}|\d{4}年第[1-4]季度?"
    if not len(values) or (values.str.contains(looks) | values.str.fullmatch(quarters)).mean() < 0.95:
        return []
    forms = [form for form in forms_of_dates() if to_date(values.iloc[:50], form).notna().any()]
    read = pd.DataFrame({form: to_date(values, form).notna() for form in forms}, index=values.index)
    best = read.mean().max() if forms else 0.0
    return [form for form in forms if read[form].mean() == best] if best >= 0.95 else mixed_forms(read)


def mixed_forms(read):
    """Several forms that read nearly all values between them, the most frequent one first."""
    chosen, left = [], read
    while len(chosen) < 4 and len(left) > 0.02 * len(read) and left.sum().max() >= max(2, 0.02 * len(read)):
        chosen.append(str(left.sum().idxmax()))
        left = left[~left[chosen[-1]]]
    return [" | ".join(chosen)] if len(chosen) > 1 and len(left) <= 0.02 * len(read) else []
