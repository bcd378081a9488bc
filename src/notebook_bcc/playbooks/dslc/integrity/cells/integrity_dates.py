def falls(column, form):
    """How often the time goes back from one row to the next, read like this."""
    return int((to_date(column, form).diff() < pd.Timedelta(0)).sum())


def is_yes_no(values):
    words = set(values.str.lower().unique())
    return len(words) > 1 and words <= set("yes y true t 1 ja oui 是 no n false f 0 nein non 否".split())


for name in [each for each in text_names if each not in number_texts]:
    if is_yes_no(sample[name].dropna()):
        flag_texts += [name] if [name] != target_names else []
    elif forms := date_inside(sample[name].dropna().iloc[:1000]):
        # Where no day is above 12 the order of the rows may tell.
        date_formats[name] = min(forms, key=lambda form: falls(raw[name], form))
        unclear_dates += [name] if len(forms) > 1 else []
pd.Series(date_formats).to_frame({{ "日期格式" if lang == "zh" else "date format" }}) if date_formats else None
