def prepare(table: pd.DataFrame) -> pd.DataFrame:
    """Clean rows from raw ones; rows are never dropped, and the target stays if it is there."""
    #% if v.missing_codes or v.only_positive or v.limits or v.means_none
    out = parse(table)
    #% if v.missing_codes
    for name, codes in {{ v.missing_codes if v.missing_codes is mapping else "MISSING_CODES" | name }}.items():  # numbers that stand for "missing"
        if name in out:
            out[name] = out[name].mask(out[name].isin(codes))
    #% endif
    #% if v.only_positive
    for name in {{ v.only_positive | keys if v.only_positive is mapping else "ONLY_POSITIVE" | name }}:  # zero or less stands far below all other values
        if name in out:
            out[name] = out[name].mask(out[name] <= 0)
    #% endif
    #% if v.limits
    for name, (low, high) in {{ v.limits if v.limits is mapping else "LIMITS" | name }}.items():
        if name in out:
            out[name] = out[name].where(out[name].between(low, high))
    #% endif
    #% if v.means_none
    for name, count in {{ v.means_none if v.means_none is mapping else "MEANS_NONE" | name }}.items():  # nothing to describe where the count is zero
        if name in out and count in out:
            out[name] = out[name].mask(out[name].isna() & (out[count] == 0), "none")
    #% endif
    return out
    #% else
    return parse(table)
    #% endif
