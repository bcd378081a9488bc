# Numbers in groups of three ("1,234.5") or with the other decimal sign were read as text.
def to_numbers(texts, decimal):
    separators = r"[' \u00a0\u202f,.]".replace(decimal, "")
    return pd.to_numeric(texts.str.replace(separators, "", regex=True).str.replace(decimal, ".", regex=False))


for name, decimal in {{ v.grouped_numbers if v.grouped_numbers is mapping else "grouped_numbers" | name }}.items():
    raw[name] = to_numbers(raw[name], decimal)
#% if "test" in inputs
    if name in raw_test:
        raw_test[name] = to_numbers(raw_test[name], decimal)
#% endif
raw.head()
