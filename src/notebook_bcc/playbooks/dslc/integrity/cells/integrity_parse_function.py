def parse(table):
    """Every column as what it is: number, yes or no, date, category."""
    out = table.copy()
    #% if v.number_texts
    for name, decimal in {{ v.number_texts if v.number_texts is mapping else "NUMBER_TEXTS" | name }}.items():
        if name in out and out[name].dtype.kind not in "biuf":
            out[name] = each_text(out[name], to_number, decimal)
    #% endif
    #% if v.flag_texts
    for name in {{ v.flag_texts if v.flag_texts is sequence else "FLAG_TEXTS" | name }}:
        if name in out:
            out[name] = each_text(out[name], to_flag)
    #% endif
    #% if v.spellings
    for name, usual in {{ v.spellings if v.spellings is mapping else "SPELLINGS" | name }}.items():
        if name in out:
            out[name] = each_text(out[name], to_usual_spelling, usual)
    #% endif
    #% if v.date_formats
    for name, form in {{ v.date_formats if v.date_formats is mapping else "DATE_FORMATS" | name }}.items():
        if name in out:
            out[name] = to_date(out[name], form)
    #% endif
    #% if v.word_columns
    words = {{ v.word_columns if v.word_columns is sequence else "WORD_COLUMNS" | name }}
    for name in words:
        if name in out:
            out[name] = each_text(out[name], to_words)
    #% else
    words = []
    #% endif
    # Every other column holds numbers; stray words and infinity are missing values.
    for name in out.columns.difference(words, sort=False):
        if out[name].dtype.kind not in "biufcmM":
            out[name] = pd.to_numeric(out[name], errors="coerce")
        if out[name].dtype.kind == "f" and np.isinf(out[name]).any():
            out[name] = out[name].replace([np.inf, -np.inf], np.nan)
    #% if v.date_formats or v.code_parts or v.lettered_codes or v.unit_numbers
    return pd.concat([out, pd.DataFrame(in_parts(out), index=out.index)], axis=1)
    #% else
    return out
    #% endif
