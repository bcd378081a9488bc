import csv
import re
from collections import Counter
from itertools import islice

csv.field_size_limit(2**31 - 1)
WORDS = "? ?? - -- – — . .. NA N/A n/a na N.A. n.a. k.A. #N/A #NA #VALUE! #REF! #DIV/0! NaN nan NULL Null null".split()
WORDS += ["(null)", "<NA>", "\\N", "None", "none", "nil", "缺失", "空值"]
MARKERS = {before + word + after for word in [*WORDS, ""] for before in ("", " ") for after in ("", " ")} - {""}
# Codes with leading zeros, numbers too long for a float, thousands separators, decimal commas.
ODD_NUMBER = re.compile(
    r"0\d\d+|\d{16,}|[+-]?\d+(,\d+)+(\.\d+)?|[+-]?\d{1,3}(([ '\u00a0\u202f]\d{3})+([.,]\d+)?|(\.\d{3}){2,}|(\.\d{3})+,\d+)"
).fullmatch
NUMBER = re.compile(r"[+-]?\d[\d.,]*([eE][+-]?\d+)?").fullmatch
PACKED = {".gz", ".bz2", ".zip", ".xz", ".zst", ".tar"}


def has_plain_names(names, first):
    """Whether a first row holds tidy, unique names and no values, and is cut by commas alone."""
    tidy = all(name == name.strip() != "" and not NUMBER(name) for name in names) and len(set(names)) == len(names)
    other = re.search(r"[;|{<\x00-\x1f\ufeff]|^[#%\[]" if len(names) > 1 else r"\W", "".join(names))
    values = sum(name in cells for name, *cells in zip(names, *first))
    return tidy and not other and values <= len(names) / 2
