# Numbers in groups of three ("1,234.5") or with the other decimal sign were read as text.
def with_numbers(table):
    out = table.copy()
    for name, decimal in {{ v.grouped_numbers if v.grouped_numbers is mapping else "grouped_numbers" | name }}.items():
        if name in out and out[name].dtype.kind not in "biuf":
            mark = r"[' \u00a0\u202f,.]".replace(decimal, "")
            shape = r"[+-]?(?:\d{1,3}(?:" + mark + r"\d{3})+|\d+)(?:[" + decimal + r"]\d+)?"
            digits = out[name].where(out[name].str.fullmatch(shape, na=False)).str.replace(mark, "", regex=True)
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
