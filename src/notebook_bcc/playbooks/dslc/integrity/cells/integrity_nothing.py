# What is looked for; empty until it is found
number_texts, scaled_texts, flag_texts = {}, [], []
numbers = {str(name): raw[name] for name, kind in raw.dtypes.items() if kind.kind == "f"}
infinite_values = {name: count for name, column in numbers.items() if (count := int(np.isinf(column).sum()))}
number_strays = {name: ["inf"] for name in infinite_values}
date_formats, date_parts, unclear_dates = {}, {}, []
code_parts, lettered_codes, unit_numbers, spellings, long_texts, word_columns = {}, [], {}, {}, [], []
