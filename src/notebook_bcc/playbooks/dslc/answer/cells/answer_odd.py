# What every analysis of this table would repair: codes for "missing", as they are found in columns of numbers
def codes_in(column):
    values = np.sort(column.dropna().to_numpy(dtype=float))
    return codes_among(values[np.isfinite(values)], is_target=False)


cleaned = raw.replace([np.inf, -np.inf], np.nan)
word_columns = [str(name) for name in raw.select_dtypes(exclude=["number", "bool", "datetime"])]
found_codes = {str(name): codes for name in raw.select_dtypes("number") if (codes := codes_in(raw[name]))}
for name, codes in found_codes.items():
    cleaned[name] = cleaned[name].mask(cleaned[name].isin(codes))
