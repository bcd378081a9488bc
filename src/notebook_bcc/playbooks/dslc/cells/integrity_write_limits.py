# These lists are too long to be written out above.
with open("prepare.py", "a", encoding="utf-8") as file:
    #% if v.missing_codes is string
    file.write(f"\n\nMISSING_CODES = {missing_codes!r}\n")
    #% endif
    #% if v.only_positive is string
    file.write(f"\n\nONLY_POSITIVE = {list(only_positive)!r}\n")
    #% endif
    #% if v.limits is string
    file.write(f"\n\nLIMITS = {limits!r}\n")
    #% endif
    #% if v.means_none is string
    file.write(f"\n\nMEANS_NONE = {means_none!r}\n")
    #% endif
