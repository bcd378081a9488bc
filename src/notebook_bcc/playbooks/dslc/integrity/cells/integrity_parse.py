parsed = parse(raw)
#% if v.number_texts or v.flag_texts or v.date_formats
#% set listed = v.number_texts is mapping and v.flag_texts is sequence and v.date_formats is mapping
#% if listed
unread = {{ v.number_texts | keys + v.flag_texts + v.date_formats | keys }}
#% else
unread = [*number_texts, *flag_texts, *date_formats]
#% endif
example = {name: raw[name].notna().to_numpy().argmax() for name in unread[:40]}
unread = {name: int((parsed[name].isna() & raw[name].notna()).sum()) for name in unread}
unread = {name: count for name, count in unread.items() if count}
#% if v.infinite_values
unread |= {{ v.infinite_values if v.infinite_values is mapping else "infinite_values" | name }}
#% endif
#% if not v.number_texts
repaired_values = 0
#% elif v.number_texts is mapping
repaired_values = int(parsed[{{ v.number_texts | keys }}].notna().to_numpy().sum())
#% else
repaired_values = int(parsed[list(number_texts)].notna().to_numpy().sum())
#% endif
pd.DataFrame(
    {
        {{ "原值" if lang == "zh" else "before" }}: {name: repr(raw[name].iloc[row]) for name, row in example.items()},
        {{ "读作" if lang == "zh" else "after" }}: {name: str(parsed[name].iloc[row]) for name, row in example.items()},
        {{ "读出" if lang == "zh" else "read" }}: {name: int(parsed[name].notna().sum()) for name in example},
        {{ "读不出" if lang == "zh" else "not read" }}: {name: unread.get(name, 0) for name in example},
    }
)
#% else
#% if v.infinite_values
unread, repaired_values = {{ v.infinite_values if v.infinite_values is mapping else "infinite_values" | name }}, 0
#% else
unread, repaired_values = {}, 0
#% endif
print({{ "没有文本列需要读作数字、日期或是否。" if lang == "zh" else "No text column had to be read as numbers, dates or yes and no." }})
#% endif
