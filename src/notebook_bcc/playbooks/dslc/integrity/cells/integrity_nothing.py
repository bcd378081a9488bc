# What is looked for; empty until it is found
number_texts, scaled_texts, number_strays, flag_texts = {}, [], {}, []
date_formats, date_parts, unclear_dates = {}, {}, []
code_parts, lettered_codes, unit_numbers, spellings, long_texts, word_columns = {}, [], {}, {}, [], []
