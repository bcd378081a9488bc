#% if v.leak_sums is defined and v.leak_sums
#% for first, form, second, times, per in v.leak_sums[:4]
#% if form == "+"
made = train[{{ first }}] + train[{{ second }}]
#% elif form == "-"
made = train[{{ first }}] - train[{{ second }}]
#% elif form == "mean"
made = (train[{{ first }}] + train[{{ second }}]) / 2
#% elif form == "×"
made = train[{{ first }}] * train[{{ second }}]
#% elif form == "/²"
made = train[{{ first }}] / train[{{ second }}] ** 2
#% else
made = train[{{ first }}] / train[{{ second }}]
#% endif
#% if times != 1
made = made * {{ times }}
#% elif per != 1
made = made / {{ per }}
#% endif
print({{ (first ~ " + " ~ second ~ ", / 2," if form == "mean" else first ~ " " ~ form ~ " " ~ second) ~ (" × " ~ (times | num) if times != 1 else " / " ~ (per | num) if per != 1 else "") ~ (" 与目标的最大差：" if lang == "zh" else " differs from the target by at most") }}, (made - train[target]).abs().max())
#% endfor
#% endif
#% if v.leaks
dropped_columns |= dict.fromkeys({{ v.leaks | keys if v.leaks is mapping else "leaks" | name }}, "leak")
#% endif
#% if not (v.candidate_columns is sequence and v.leaks is mapping and v.dropped_columns is mapping)
if set(candidate_columns) <= set(dropped_columns):
    can_model, cannot_because = False, "no features"
#% elif v.candidate_columns | reject_in(v.leaks | keys + v.dropped_columns | keys) | length == 0
can_model, cannot_because = False, "no features"
#% endif
print({{ "剩余可用的列：" if lang == "zh" else "columns left to use:" }}, len(candidate_columns) - len(dropped_columns))
