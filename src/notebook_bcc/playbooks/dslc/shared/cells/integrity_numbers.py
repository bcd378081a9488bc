def number_inside(values):
    """The decimal mark, the units and the words that are no numbers; nothing if the column is not one of numbers."""
    digits_shape = r"\d{1,3}(?:[.,'\s]\d{3})+(?:[.,]\d+)?|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?|(?:\d+(?:[.,]\d+)?|[.,]\d+)[.,]?(?:[eE][+-]?\d+)?"
    found = values.str.extract(r"^\(?([^\d()+\-.,]{0,4})[+-]?\s*(" + digits_shape + r")([^\d]{0,10})$")
    digits = found[1].dropna()
    if len(digits) < max(0.9 * len(values), 1) or digits.str.match(r"0\d").mean() > 0.05:
        return None  # words, or codes with leading zeros
    before = set(found[0].dropna().str.strip(" $€£¥").unique()) - {""}
    after = set(found[2].dropna().str.strip(" )").unique())
    money = {"eur", "usd", "gbp", "chf", "cny", "rmb", "jpy", "inr", "rs", "rs.", "kr", "us", "a", "ca", "hk", "r"}
    if any(word.lower() not in money for word in before) or len(after) > 5:
        return None
    if digits.str.replace(r"\D", "", regex=True).nunique() < 0.8 * values[digits.index].str.lower().nunique():
        return None  # the words around the digits make the difference, as in ">50K" and "<=50K"
    # Values where a mark cannot stand for thousands tell which one is decimal.
    comma = digits.str.contains(r"\..*,|\..*\.|^\d+,(?!\d{3}$)\d*$|^\d{4,},\d+$").sum()
    point = digits.str.contains(r",.*\.|,.*,|^\d+\.(?!\d{3}$)\d*$|^\d{4,}\.\d+$").sum()
    strays = [str(word)[:40] for word in values[~values.index.isin(digits.index)].unique()[:5]]
    return "," if comma > point else ".", sorted(after | before), strays


for name in text_names:
    if found := number_inside(sample[name].dropna()):
        number_texts[name], units, number_strays[name] = found
        if len(units) > 1 and {"k", "K", "M", "B", "bn", "Mio", "万", "亿"} & set(units):
            scaled_texts.append(name)
pd.Series(number_texts).to_frame({{ "小数点" if lang == "zh" else "decimal mark" }}) if number_texts else None
