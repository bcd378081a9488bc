# These lists are too long to be written out above.
with open("prepare.py", "a", encoding="utf-8") as file:
    #% if v.number_texts is string
    file.write(f"\n\nNUMBER_TEXTS = {number_texts!r}\n")
    #% endif
    #% if v.flag_texts is string
    file.write(f"\n\nFLAG_TEXTS = {flag_texts!r}\n")
    #% endif
    #% if v.spellings is string
    file.write(f"\n\nSPELLINGS = {spellings!r}\n")
    #% endif
    #% if v.date_formats is string
    file.write(f"\n\nDATE_FORMATS = {date_formats!r}\n")
    #% endif
    #% if v.date_parts is string
    file.write(f"\n\nDATE_PARTS = {date_parts!r}\n")
    #% endif
    #% if v.word_columns is string
    file.write(f"\n\nWORD_COLUMNS = {word_columns!r}\n")
    #% endif
    #% if v.code_parts is string
    file.write(f"\n\nCODE_PARTS = {code_parts!r}\n")
    #% endif
    #% if v.lettered_codes is string
    file.write(f"\n\nLETTERED_CODES = {lettered_codes!r}\n")
    #% endif
    #% if v.unit_numbers is string
    file.write(f"\n\nUNIT_NUMBERS = {unit_numbers!r}\n")
    #% endif
