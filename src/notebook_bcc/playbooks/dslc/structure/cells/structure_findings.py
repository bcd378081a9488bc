from matplotlib import font_manager

#% set words = ["unknown", "Unknown", "UNKNOWN", "not supported", "not available", "missing", "Missing", "未知", "不详"]
numbers, texts = raw.select_dtypes("number"), raw.select_dtypes(exclude=["number", "bool", "datetime"])
# Values that often stand for "not known"; whether they do is not for a program to say.
unclear_values = {}
stand_ins = [-999, -9999, 9999, 99999, 999999]
lowest, highest = numbers.min(), numbers.max()
for name in numbers.columns[lowest.isin(stand_ins) | highest.isin(stand_ins)]:
    for value in sorted({lowest[name], highest[name]} & set(stand_ins)):
        unclear_values[f"{name}: {value:g}"] = int((raw[name] == value).sum())
hits = texts.isin({{ words }})
for name in texts.columns[hits.any()]:
    unclear_values |= {f"{name}: {word}": int(count) for word, count in raw.loc[hits[name], name].value_counts().items()}
unclear_values = dict(sorted(unclear_values.items(), key=lambda item: -item[1])[:10])

# Scripts that the usual font of figures does not have.
usual = font_manager.get_font(font_manager.findfont("DejaVu Sans")).get_charmap()
shown = [*map(str, raw.columns), *(value for name in texts for value in texts[name].value_counts().index[:50])]
needs_font = any(ord(letter) not in usual for letter in set("".join("".join(map(str, shown)).split())))
readable, problem = True, ""
