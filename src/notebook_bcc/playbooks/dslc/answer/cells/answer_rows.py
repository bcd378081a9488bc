#% set asks = asked.question
rows = {{ ("table" if v.is_repaired else "raw") | name }}
#% for one in asks.where
#% set value = one["values"] | first
#% if one.operator == "in" and one["values"] | length == 1 and value is not sameas true
rows = rows[rows[{{ one.column }}] == {{ value }}]
#% elif one.operator == "in"
rows = rows[rows[{{ one.column }}].isin({{ one["values"] }})]
#% elif one.operator == "not in"
rows = rows[rows[{{ one.column }}].notna() & ~rows[{{ one.column }}].isin({{ one["values"] }})]
#% elif one.operator == "between"
rows = rows[rows[{{ one.column }}].between({{ value }}, {{ one["values"] | last }})]
#% elif one.operator == ">"
rows = rows[rows[{{ one.column }}] > {{ value }}]
#% elif one.operator == ">="
rows = rows[rows[{{ one.column }}] >= {{ value }}]
#% elif one.operator == "<"
rows = rows[rows[{{ one.column }}] < {{ value }}]
#% else
rows = rows[rows[{{ one.column }}] <= {{ value }}]
#% endif
#% endfor
#% if asks.measures[0] == "correlation"
pairs = rows[{{ asks.columns }}].dropna()
# A column that is the same everywhere goes along with nothing.
used_rows = len(pairs) if (pairs.nunique() > 1).all() else 0
#% elif asks.columns and asks.measures[0] not in ["missing", "distinct"]
used_rows = int(rows[{{ asks.columns }}].notna().any(axis=1).sum())
#% else
used_rows = len(rows)
#% endif
#% if lang == "zh"
print(f"{len(rows):,} 行，其中 {used_rows:,} 行有所需的值")
#% else
print(f"{len(rows):,} rows, {used_rows:,} of them with the values that are needed")
#% endif
