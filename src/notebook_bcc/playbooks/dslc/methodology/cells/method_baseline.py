#% set ahead = v.task == "regression" and v.split_kind == "time"
#% if ahead
#% set middle = "median" if v.metric == "log_rmse" else "mean"
# Rows of one moment may belong to several series, such as shops: each is continued on its own.
time_column = {{ v.time_column }}
names = [name for name in given_features if train[name].nunique() <= len(train) / 10]
apart = [name for name in names if train.duplicated([time_column, name]).mean() < 0.01]
series_column = apart[0] if train[time_column].duplicated().mean() > 0.2 and apart else ""


def series_of(rows):
    return rows[series_column] if series_column else pd.Series("", index=rows.index)


def repeated(known, ahead, season):
    """The last values of each series once more, in their order; a season of one row is the last value."""
    past = {name: rows.to_numpy()[-season:] for name, rows in known[target].groupby(series_of(known))}
    typical, place = known[target].{{ middle | name }}(), series_of(ahead).groupby(series_of(ahead)).cumcount()
    found = [past.get(name, [typical]) for name in series_of(ahead)]
    return np.array([values[step % len(values)] for values, step in zip(found, place)], dtype=float)


series_rows = len(train) // max(1, series_of(train).nunique())
naive_ways = {{ {"中位数" if v.metric == "log_rmse" else "均值": 0, "最后一个值": 1} if lang == "zh" else {middle: 0, "last value": 1} }}
naive_ways |= {({{ "前 {} 行的重复" if lang == "zh" else "the last {} rows again" }}).format(season): season for season in (7, 12, 24, 52, 168, 365) if 4 * season <= series_rows}


def forecast_by(season, known, ahead):
    return repeated(known, ahead, season) if season else np.full(len(ahead), known[target].{{ middle | name }}(), dtype=float)


def scores_by(season):
    return [score(y.iloc[check], forecast_by(season, train.iloc[fit], train.iloc[check])) for fit, check in folds]


naive_kind = min(naive_ways, key=lambda way: np.mean(scores_by(naive_ways[way])))


def naive(known, ahead):
    """The best of the forecasts that look at no feature."""
    return forecast_by(naive_ways[naive_kind], known, ahead)
#% elif v.task == "regression"
def naive(known, ahead):
    """The {{ "median" if v.metric == "log_rmse" else "mean" }} of what is known, for every row."""
    return np.full(len(ahead), known[target].{{ ("median" if v.metric == "log_rmse" else "mean") | name }}(), dtype=float)
#% elif v.task == "multilabel"
def naive(known, ahead):
    """The more frequent answer to each question, for every row."""
    return np.tile(known[targets].mode().iloc[0].to_numpy(dtype=int), (len(ahead), 1))
#% elif v.metric == "roc_auc"
def naive(known, ahead):
    """The same probability for every row."""
    return np.full(len(ahead), 0.5)
#% else
def naive(known, ahead):
    """The largest class, for every row."""
    return np.full(len(ahead), known[target].mode()[0])
#% endif


naive_forecasts = [naive(train.iloc[fit], train.iloc[check]) for fit, check in folds]
naive_scores = [score(y.iloc[check], guess) for (fit, check), guess in zip(folds, naive_forecasts)]
baseline_score = round(float(np.nanmean(naive_scores)), 6)
#% if lang == "zh"
print(f"朴素预测：{metric} {plain_number(baseline_score)}，各折从 {plain_number(np.nanmin(naive_scores))} 到 {plain_number(np.nanmax(naive_scores))}")
#% else
print(f"naive forecast: {metric} {plain_number(baseline_score)}, from {plain_number(np.nanmin(naive_scores))} to {plain_number(np.nanmax(naive_scores))} over the folds")
#% endif
