# Numbers in groups of three ("1,234.5") or with the other decimal sign were read as text.
def with_numbers(table):
    out = table.copy()
    for name, decimal in {{ v.grouped_numbers if v.grouped_numbers is mapping else "grouped_numbers" | name }}.items():
        if name in out and out[name].dtype.kind not in "biuf":
            text = out[name]
            if decimal == ",":
                fits = text.str.fullmatch(r"[+-]?(?:\d{1,3}(?:[' \u00a0\u202f.]\d{3})+|\d+)(?:,\d+)?", na=False)
                digits = text.where(fits).str.replace(r"[' \u00a0\u202f.]", "", regex=True)
            else:
                fits = text.str.fullmatch(r"[+-]?(?:\d{1,3}(?:[' \u00a0\u202f,]\d{3})+|\d+)(?:\.\d+)?", na=False)
                digits = text.where(fits).str.replace(r"[' \u00a0\u202f,]", "", regex=True)
            numbers = pd.to_numeric(digits.str.replace(decimal, ".", regex=False))
            other = numbers.isna() & out[name].notna()
            # What is no number stays as it is.
            out[name] = numbers.astype(object).mask(other, out[name]) if other.any() else numbers
    return out


raw = with_numbers(raw)
#% if "test" in inputs and not v.test_problem | default("")
raw_test = with_numbers(raw_test)
#% endif
raw.head()
