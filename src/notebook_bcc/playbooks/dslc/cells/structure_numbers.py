# Numbers in groups of three ("1,234.5") and with the other decimal sign were read as text.
NUMBERS = {
    ".": r"[+-]?\d{1,3}(?:[,' \u00a0\u202f]\d{3})+(?:\.\d+)?|[+-]?\d+(?:\.\d+)?",
    ",": r"[+-]?\d{1,3}(?:[.' \u00a0\u202f]\d{3})+(?:,\d+)?|[+-]?\d+(?:,\d+)?",
}


def decimal_of(texts):
    """The decimal sign with which every text of a column is a number, or nothing."""
    for decimal in [{{ v.file_facts.decimal }}, {{ "," if v.file_facts.decimal == "." else "." }}]:
        # The first thousand tell most columns apart at once.
        if len(texts) and all(part.str.fullmatch(NUMBERS[decimal]).all() for part in (texts.head(1000), texts)):
            return decimal
    return ""


def to_numbers(texts, decimal):
    separators = r"[' \u00a0\u202f,.]".replace(decimal, "")
    return pd.to_numeric(texts.str.replace(separators, "", regex=True).str.replace(decimal, ".", regex=False))


grouped_numbers = {}
for name in raw.columns:
#% if v.file_codes is sequence and not v.file_codes
    if not pd.api.types.is_string_dtype(raw[name]):
        continue
#% else
    if name in file_codes or not pd.api.types.is_string_dtype(raw[name]):
        continue
#% endif
    decimal = decimal_of(raw[name].dropna())
#% if "test" in inputs
    if decimal and name in raw_test and decimal_of(raw_test[name].dropna()) == decimal:
        raw_test[name] = to_numbers(raw_test[name], decimal)
    elif name in raw_test:
        decimal = ""
#% endif
    if decimal:
        raw[name] = to_numbers(raw[name], decimal)
        grouped_numbers[name] = decimal
print(grouped_numbers)
