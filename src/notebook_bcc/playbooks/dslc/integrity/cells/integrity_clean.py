cleaned = prepare(raw)
#% if not v.missing_codes and not v.only_positive and not v.limits
mended_values = 0
#% elif v.missing_codes is mapping and v.only_positive is mapping and v.limits is mapping
mended = {{ (v.missing_codes | keys + v.only_positive | keys + v.limits | keys) | unique }}
mended_values = int((cleaned[mended].isna() & parsed[mended].notna()).to_numpy().sum())
#% else
mended = list({*missing_codes, *only_positive, *limits})
mended_values = int((cleaned[mended].isna() & parsed[mended].notna()).to_numpy().sum())
#% endif
print({{ "行数和列数：" if lang == "zh" else "rows and columns:" }}, *cleaned.shape)
