# Numbers in groups of three ("1,234.5") or with the other decimal sign were read as text.
def with_numbers(table):
    out = table.copy()
    for name, decimal in {{ v.grouped_numbers if v.grouped_numbers is mapping else "grouped_numbers" | name }}.items():
        if name in out and out[name].dtype.kind not in "biuf":
            separators = r"[' \u00a0\u202f,.]".replace(decimal, "")
            digits = out[name].str.replace(separators, "", regex=True).str.replace(decimal, ".", regex=False)
            out[name] = pd.to_numeric(digits)
    return out


raw = with_numbers(raw)
#% if "test" in inputs
raw_test = with_numbers(raw_test)
#% endif
raw.head()
