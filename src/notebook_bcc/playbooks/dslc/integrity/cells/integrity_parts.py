def in_parts(out):
    """Columns made of dates, codes and measurements inside text."""
    new = {}
    #% if v.date_formats
    for name, parts in {{ v.date_parts if v.date_parts is mapping else "DATE_PARTS" | name }}.items():
        if name in out:
            known = parts_of(out[name])
            new |= {f"{name}_{part}": known[part] for part in parts}
    #% endif
    #% if v.code_parts
    for name, code in {{ v.code_parts if v.code_parts is mapping else "CODE_PARTS" | name }}.items():
        for part in code["words"] + code["numbers"] if name in out else []:
            read = number_at if part in code["numbers"] else word_at
            new[f"{name}_{part}"] = each_text(out[name], read, code["mark"], part)
    #% endif
    #% if v.lettered_codes
    for name in {{ v.lettered_codes if v.lettered_codes is sequence else "LETTERED_CODES" | name }}:
        if name in out:
            new[f"{name}_letters"] = each_text(out[name], letters_in)
            new[f"{name}_number"] = each_text(out[name], number_in, r"(?<!\d)(\d+)\D*$")
    #% endif
    #% if v.unit_numbers
    for name, units in {{ v.unit_numbers if v.unit_numbers is mapping else "UNIT_NUMBERS" | name }}.items():
        for unit in units if name in out else []:
            shape = r"(?i)(?<!\d)(\d+(?:\.\d+)?)[\s-]*" + unit + r"(?![^\W\d_])"
            new[f"{name}_{unit}"] = each_text(out[name], number_in, shape)
    #% endif
    return new
