word_columns = [name for name in text_names if name not in [*number_texts, *flag_texts, *date_formats]]
for name in [each for each in word_columns if each not in target_names]:
    values = sample[name].dropna()
    distinct, lengths = values.nunique(), values.str.len().astype(float)
    digit_share = values.str.contains(r"\d").astype(float).mean()
    one_word = not values.str.contains(" ").any()
    if distinct > 20 and digit_share > 0.9 and lengths.max() <= 24 and one_word:
        if parts := parts_inside(raw[name].dropna().astype("string").str.strip()):
            code_parts[name] = parts
            continue
    if distinct > 0.9 * len(values) and lengths.std() < 0.5 and one_word:
        continue  # codes of one length, one for each row
    units = units_inside(values) if distinct > 15 and digit_share > 0.3 else []
    if distinct > 50 and digit_share > 0.9 and lengths.mean() < 15 and not units:
        lettered_codes.append(name)
    elif distinct > 60 and (values.str.split().str.len().mean() >= 1.5 or lengths.mean() > 25):
        long_texts.append(name)
    if units := [unit for unit in units if f"{name}_{unit}" not in raw.columns]:
        unit_numbers[name] = units
