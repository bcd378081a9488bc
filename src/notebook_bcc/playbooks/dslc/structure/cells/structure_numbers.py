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
#% if "test" in inputs and not v.test_problem | default("")
    if name in raw_test and decimal_of(raw_test[name].dropna()) != decimal:
        continue
#% endif
    if decimal:
        grouped_numbers[name] = decimal
print(grouped_numbers)
