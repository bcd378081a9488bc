#% if inputs.time is defined and inputs.time
time_column = {{ inputs.time }}
#% else
# Do the rows follow one another in time?
def is_time(name):
    return re.search(r"(?i)^(time|timestamp|date|datetime|year|month|week|quarter|period|step)$|时间|日期|年份", name)


def orders_rows(name):
    times = df_clean[name].dropna()
    if len(times) < 0.95 * len(df_clean) or times.nunique() < 20:
        return False
    #% if "test" in inputs and not v.test_problem | default("")
    # The test file tells what is asked for: rows that come later, or rows in between.
    return name in new and (new[name].dropna() >= times.quantile(0.99)).mean() > 0.95
    #% else
    return abs(np.corrcoef(times.rank(), np.arange(len(times)))[0, 1]) > 0.95
    #% endif


times = [name for name, form in date_formats.items() if not form or "%Y" in form or "%y" in form]
times += [name for name in candidate_columns if df_clean[name].dtype.kind in "iuf" and is_time(name)]
time_column = next((name for name in times if orders_rows(name)), "")
#% endif
time_range = [str(df_clean[time_column].min()), str(df_clean[time_column].max())] if time_column else []
if all(moment.endswith(" 00:00:00") for moment in time_range):
    time_range = [moment.removesuffix(" 00:00:00") for moment in time_range]
print({{ "时间列：" if lang == "zh" else "column of time:" }}, time_column or {{ "无" if lang == "zh" else "none" }}, *time_range)
