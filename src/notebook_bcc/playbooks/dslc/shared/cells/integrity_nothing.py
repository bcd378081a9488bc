import re

# What is looked for; empty until it is found
number_texts, scaled_texts, flag_texts = {}, [], []
numbers = {str(name): raw[name] for name, kind in raw.dtypes.items() if kind.kind == "f"}
infinite_values = {name: count for name, column in numbers.items() if (count := int(np.isinf(column).sum()))}
number_strays = {name: ["inf"] for name in infinite_values}
date_formats, date_parts, unclear_dates = {}, {}, []
code_parts, lettered_codes, unit_numbers, spellings, long_texts, word_columns = {}, [], {}, {}, [], []


def is_id(name):
    words = r"id|ids|uuid|guid|key|index|row|rownames?|serial|record|no|nr|instant"
    return re.search(rf"(?i:(^|[^a-z])({words})$|^unnamed)|[a-z](Id|ID)$|编号|序号|学号|工号", name)
