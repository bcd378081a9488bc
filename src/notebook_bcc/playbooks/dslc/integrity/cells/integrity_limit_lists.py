# These lists are too long to be written out in the functions.
#% if v.missing_codes is string
MISSING_CODES = missing_codes
#% endif
#% if v.only_positive is string
ONLY_POSITIVE = list(only_positive)
#% endif
#% if v.limits is string
LIMITS = limits
#% endif
#% if v.means_none is string
MEANS_NONE = means_none
#% endif
