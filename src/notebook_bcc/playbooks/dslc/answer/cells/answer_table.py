table = raw.copy()
#% for name, codes in v.missing_codes | items
table[{{ name }}] = table[{{ name }}].mask(table[{{ name }}].isin({{ codes }}))  # stands for "not measured"
#% endfor
#% if v.infinite_counts
table = table.replace([np.inf, -np.inf], np.nan)
#% endif
#% if v.total_rows
table = table.drop(index=table.index[{{ v.total_rows }}])  # totals of the other rows
#% endif
table.shape
