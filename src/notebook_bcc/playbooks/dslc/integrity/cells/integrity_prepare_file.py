import ast
import linecache


def source_of(thing):
    """The source of a function or class, as it stands in its cell."""
    code = thing.__init__.__code__ if isinstance(thing, type) else thing.__code__
    lines = linecache.getlines(code.co_filename)
    found = [part for part in ast.parse("".join(lines)).body if getattr(part, "name", "") == thing.__name__]
    return "".join(lines[found[-1].lineno - 1 : found[-1].end_lineno]).rstrip()


def as_module(imports, constants, parts):
    """A module of its own, made of parts of this notebook."""
    values = "\n".join(f"{name} = {value!r}" for name, value in constants.items())
    return "\n\n\n".join([text for text in ("\n".join(imports), values) if text] + [source_of(part) for part in parts]) + "\n"


prepare_functions = [
    #% if v.text_names or v.flag_texts
    each_text,
    #% endif
    #% if v.number_texts
    to_number,
    #% endif
    #% if v.word_columns
    to_words,
    #% endif
    #% if v.flag_texts
    to_flag,
    #% endif
    #% if v.spellings
    to_usual_spelling,
    #% endif
    #% if v.code_parts
    word_at,
    number_at,
    #% endif
    #% if v.lettered_codes
    letters_in,
    #% endif
    #% if v.lettered_codes or v.unit_numbers
    number_in,
    #% endif
    #% if v.date_formats
    to_date,
    parts_of,
    #% endif
    #% if v.date_formats or v.code_parts or v.lettered_codes or v.unit_numbers
    in_parts,
    #% endif
    parse,
    prepare,
]
#% if v.number_texts is string or v.flag_texts is string or v.spellings is string or v.date_formats is string or v.date_parts is string or v.word_columns is string or v.code_parts is string or v.lettered_codes is string or v.unit_numbers is string or v.missing_codes is string or v.only_positive is string or v.limits is string or v.means_none is string
long_lists = {
#% if v.number_texts is string
    "NUMBER_TEXTS": NUMBER_TEXTS,
#% endif
#% if v.flag_texts is string
    "FLAG_TEXTS": FLAG_TEXTS,
#% endif
#% if v.spellings is string
    "SPELLINGS": SPELLINGS,
#% endif
#% if v.date_formats is string
    "DATE_FORMATS": DATE_FORMATS,
#% endif
#% if v.date_parts is string
    "DATE_PARTS": DATE_PARTS,
#% endif
#% if v.word_columns is string
    "WORD_COLUMNS": WORD_COLUMNS,
#% endif
#% if v.code_parts is string
    "CODE_PARTS": CODE_PARTS,
#% endif
#% if v.lettered_codes is string
    "LETTERED_CODES": LETTERED_CODES,
#% endif
#% if v.unit_numbers is string
    "UNIT_NUMBERS": UNIT_NUMBERS,
#% endif
#% if v.missing_codes is string
    "MISSING_CODES": MISSING_CODES,
#% endif
#% if v.only_positive is string
    "ONLY_POSITIVE": ONLY_POSITIVE,
#% endif
#% if v.limits is string
    "LIMITS": LIMITS,
#% endif
#% if v.means_none is string
    "MEANS_NONE": MEANS_NONE,
#% endif
}
#% else
long_lists = {}
#% endif
imports = ["import numpy as np", "import pandas as pd"]
Path("prepare.py").write_text(as_module(imports, long_lists, prepare_functions), encoding="utf-8")
#% if lang == "zh"
print(f"prepare.py 中有 {len(prepare_functions)} 个函数")
#% else
print(f"functions in prepare.py: {len(prepare_functions)}")
#% endif
