panel_column, moment_parts, calendar, doubtful_time = "", {}, False, ""
#% if inputs.time is defined and inputs.time
time_column = {{ inputs.time }}
# What was named may be a part that no column has, or hold neither dates nor numbers: then it orders no rows.
moments = {time_column: df_clean[time_column]} if time_column in df_clean else {}
time_column = time_column if time_column in moments and moments[time_column].dtype.kind in "iufM" else ""
#% else
# Do the rows follow one another in time?
def is_time(name):
    return re.search(r"(?i)^(time|timestamp|date|datetime|year|month|week|quarter|period|step)$|时间|日期|年份", name)


dates = [name for name, form in date_formats.items() if not form or "%Y" in form or "%y" in form]
named = [name for name in candidate_columns if df_clean[name].dtype.kind in "iuf" and is_time(name)]
moments = {name: df_clean[name] for name in [*dates, *named]}
parts, together = parts_in([name for name in candidate_columns if name in raw.columns]), "moment"
if len(parts) > 1 and {"year", "month"} & set(parts) and together not in df_clean:
    moments[together] = moment_of(df_clean, parts)
moments |= {name: df_clean[name] for name in running_numbers}
#% if "test" in inputs and not v.test_problem | default("")
later = {name: new[name] for name in moments if name in new}
if together in moments and all(name in new for name in parts.values()):
    later[together] = moment_of(new, parts)
#% else
later = {}
#% endif
time_column = next((name for name in moments if orders_rows(moments[name], later.get(name))), "")
#% if not ("test" in inputs and not v.test_problem | default(""))
# Rows of several series may stand one below the other, or in any order.
if not time_column and len(df_clean) >= 60:
    panels = {name: panel_of(moments[name]) for name in moments if name not in running_numbers}
    time_column, panel_column = next(((name, panel) for name, panel in panels.items() if panel is not None), ("", ""))
# A date that the rows do not follow may be the time of what happened, or only a property such as a birthday.
if not time_column and len(df_clean) >= 60:
    birth = r"(?i)birth|born|dob([^a-z]|$)|出生|生日"
    dated = [name for name in dates if df_clean[name].dtype.kind == "M" and df_clean[name].notna().mean() >= 0.95]
    doubtful_time = next((name for name in dated if df_clean[name].nunique() >= 12 and not re.search(birth, name)), "")
#% endif
if time_column == together and together not in df_clean:
    moment_parts, calendar = parts, is_calendar(parts)
#% endif
time_parts = list(moment_parts.values())
time_range = [str(moments[time_column].min()), str(moments[time_column].max())] if time_column else []
if all(moment.endswith(" 00:00:00") for moment in time_range):
    time_range = [moment.removesuffix(" 00:00:00") for moment in time_range]
panel_count = int(df_clean[panel_column].nunique()) if panel_column else 0
print({{ "时间列：" if lang == "zh" else "column of time:" }}, time_column or {{ "无" if lang == "zh" else "none" }}, *time_range)
