# These lists are too long to be written out in the functions.
#% if v.number_texts is string
NUMBER_TEXTS = number_texts
#% endif
#% if v.flag_texts is string
FLAG_TEXTS = flag_texts
#% endif
#% if v.spellings is string
SPELLINGS = spellings
#% endif
#% if v.date_formats is string
DATE_FORMATS = date_formats
#% endif
#% if v.date_parts is string
DATE_PARTS = date_parts
#% endif
#% if v.word_columns is string
WORD_COLUMNS = word_columns
#% endif
#% if v.code_parts is string
CODE_PARTS = code_parts
#% endif
#% if v.lettered_codes is string
LETTERED_CODES = lettered_codes
#% endif
#% if v.unit_numbers is string
UNIT_NUMBERS = unit_numbers
#% endif
