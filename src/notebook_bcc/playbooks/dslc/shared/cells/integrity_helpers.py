#% if v.text_names or v.flag_texts
def each_text(column, read, *more):
    """What `read` makes of the texts; each distinct one is read once."""
    codes, texts = pd.factorize(column.astype("string"))
    values = read(pd.Series(texts, dtype="string").str.strip(), *more).reindex(codes)
    return values.set_axis(column.index)
#% endif
#% if v.number_texts


def to_number(text, decimal):
    """The digits without currency, units and thousands marks; what is not a number is missing."""
    shape = r"^\(?[^\d()+\-.,]{0,4}[+-]?\s*((?:\d[\d.,'\s]*|[.,]\d+)(?:[eE][+-]?\d+)?)[^\d]{0,10}$"
    digits = text.str.extract(shape)[0].str.replace(r"['\s]", "", regex=True).str.strip(".,")
    # Marks stand for thousands where groups of three follow and they are repeated or not the column's decimal mark.
    thousands = r"\d{1,3}(?:,\d{3})+" if decimal == "." else r"\d{1,3}(?:\.\d{3})+"
    repeated = r"\d{1,3}(?:,\d{3}){2,}|\d{1,3}(?:\.\d{3}){2,}|\d{1,2}(?:,\d{2})+,\d{3}"
    grouped = digits.str.fullmatch(thousands) | digits.str.fullmatch(repeated)
    plain = digits.str.replace(r"[.,](?=[^.,]*[.,])", "", regex=True).str.replace(",", ".", regex=False)
    plain = plain.mask(grouped.fillna(False), digits.str.replace(r"[.,]", "", regex=True))
    number = pd.to_numeric(plain, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    #% if v.scaled_texts
    scales = {"k": 1e3, "K": 1e3, "M": 1e6, "Mio": 1e6, "B": 1e9, "bn": 1e9, "万": 1e4, "亿": 1e8}
    scale = text.str.extract(r"\d\s*(k|K|M|Mio|B|bn|万|亿)\)?$")[0].map(scales)
    number = number * scale.to_numpy(dtype=float, na_value=1.0)
    #% endif
    minus = text.str.match(r"^\(.*\)$|^[^\d]*-").fillna(False).to_numpy(dtype=bool)
    return pd.Series(np.where(minus, -number, number))
#% endif
