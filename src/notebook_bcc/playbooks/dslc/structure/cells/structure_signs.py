# Only signs of percent and money beside the digits: a column with other units may be meant as it is written.
number_texts = {
    name: decimal
    for name, decimal in number_texts.items()
    if not sample[name].isin(number_strays[name]).any() and not sample[name].str.contains(r"[^\W\d_]").any()
}
print(number_texts)
