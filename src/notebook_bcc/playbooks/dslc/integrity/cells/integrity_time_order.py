# Rows in order of time, and panels: several series one below the other
def orders_rows(times, later):
    """Whether the rows follow one another in time; `later` are the times of the test file."""
    times = times.dropna()
    if len(times) < 0.95 * len(df_clean) or times.nunique() < (12 if times.dtype.kind == "M" else 20):
        return False
    #% if "test" in inputs and not v.test_problem | default("")
    # The test file tells what is asked for: rows that come later, or rows in between.
    return later is not None and (later.dropna() >= times.quantile(0.99)).mean() > 0.95
    #% else
    return abs(np.corrcoef(times.rank(), np.arange(len(times)))[0, 1]) > 0.95
    #% endif


def panel_of(times):
    """The category whose every level has the same regular moments, once each; "" where each row has its own."""
    steps = times.drop_duplicates().sort_values().diff().dropna()
    if len(steps) < 10 or times.isna().any() or ((steps / steps.median() - 1).abs() < 0.15).mean() < 0.9:
        return None
    if times.is_unique:
        return ""
    for name in [each for each in candidate_columns if 1 < df_clean[each].nunique() <= len(df_clean) / 10]:
        whole = df_clean[name].nunique() * times.nunique()
        if len(df_clean) >= 0.8 * whole and not pd.DataFrame({"of": df_clean[name], "at": times}).duplicated().any():
            return name
    return None
