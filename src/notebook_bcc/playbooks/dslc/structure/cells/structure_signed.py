# Numbers with a sign beside them, such as "12,5 %" and "€ 3.50", were read as text.
for name, decimal in {{ v.number_texts }}.items():
    if raw[name].dtype.kind not in "biuf":
        raw[name] = each_text(raw[name], to_number, decimal)
raw.head()
