from sklearn.metrics import get_scorer
#% set doubtful_time = v.doubtful_time | default("")
#% if v.time_column
from sklearn.model_selection import KFold, TimeSeriesSplit
#% elif v.group_column and doubtful_time
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit
#% elif doubtful_time
from sklearn.model_selection import KFold, TimeSeriesSplit
#% elif v.group_column
from sklearn.model_selection import GroupKFold, KFold
#% else
from sklearn.model_selection import KFold
#% endif
#% if v.task == "regression"
from sklearn.ensemble import RandomForestRegressor as Forest
#% else
from sklearn.ensemble import RandomForestClassifier as Forest
#% endif

# How much hangs on these decisions? A quick forest, tried on training rows.
known, wanted = codes.loc[answer.index].sort_index(), answer.sort_index()
by_chance = list(KFold(3, shuffle=True, random_state=0).split(known))


def quick_score(names, folds):
    """The mean score of a small forest on these columns; folds without a second class are passed over."""
    scores = []
    for fit, check in folds if names else []:
        if min(wanted.iloc[fit].nunique(), wanted.iloc[check].nunique()) > 1:
            forest = Forest(n_estimators=40, min_samples_leaf=3, random_state=0).fit(known.iloc[fit][names], wanted.iloc[fit])
            scores.append(get_scorer(measure)(forest, known.iloc[check][names], wanted.iloc[check]))
    return round(float(np.mean(scores)), 3) if scores else None


used = [name for name in known.columns if name not in dropped_columns]
quick_scores = {}
#% if v.time_column
fair_folds = list(TimeSeriesSplit(3).split(known))
quick_scores["time"] = [quick_score(used, by_chance), quick_score(used, fair_folds)]
#% elif v.group_column
subjects = train.loc[known.index, {{ v.group_column }}]
fair_folds = list(GroupKFold(min(3, subjects.nunique())).split(known, groups=subjects)) if subjects.nunique() > 1 else []
quick_scores["group"] = [quick_score(used, by_chance), quick_score(used, fair_folds)]
#% else
fair_folds = by_chance
#% endif
#% if doubtful_time
# Is the future asked for? Then rows are to be judged by earlier ones.
in_order = np.argsort(train.loc[known.index, {{ doubtful_time }}].to_numpy(), kind="stable")
later_folds = [(in_order[fit], in_order[check]) for fit, check in TimeSeriesSplit(3).split(known)]
quick_scores["later"] = [quick_score(used, fair_folds), quick_score(used, later_folds)]
#% endif
#% if v.leaks or v.kept_leaks
#% set answers = (v.leaks | keys if v.leaks is mapping else []) + v.kept_leaks | keys
others = [name for name in used if name not in {{ answers }}]
quick_scores["leaks"] = [quick_score([*others, *{{ answers }}], fair_folds), quick_score(others, fair_folds)]
#% endif
#% if v.doubtful_columns
others = [name for name in used if name not in {{ v.doubtful_columns | keys }}]
quick_scores["doubtful"] = [quick_score(used, fair_folds), quick_score(others, fair_folds)]
#% endif
quick_scores = {name: pair for name, pair in quick_scores.items() if None not in pair}
pd.DataFrame(quick_scores, index={{ ["带上或随机", "不带或公平"] if lang == "zh" else ["with, or by chance", "without, or fair"] }}).T
