#% if v.split_kind == "time"
from sklearn.model_selection import TimeSeriesSplit

fold_count = 4
folds = list(TimeSeriesSplit(fold_count, test_size=max(1, len(X) // 8)).split(X))
#% elif v.split_kind == "group"
from sklearn.model_selection import GroupKFold

groups = train[{{ v.group_column }}]
fold_count = min({{ 5 if v.train_rows <= 20000 else 3 }}, groups.nunique())
folds = list(GroupKFold(fold_count).split(X, y, groups))
#% elif v.task in ["binary", "multiclass"]
from sklearn.model_selection import StratifiedKFold

#% if v.largest_share * v.train_rows >= 10
fold_count = {{ 5 if v.train_rows <= 20000 else 3 }}
#% else
fold_count = min(5, int(y.value_counts().max()))
#% endif
#% if v.task == "multiclass"
# Classes with fewer rows than folds share one stratum: each fold still gets its part of them.
strata = y.where(y.map(y.value_counts()) >= fold_count, y.mode()[0])
folds = list(StratifiedKFold(fold_count, shuffle=True, random_state=0).split(X, strata))
#% else
folds = list(StratifiedKFold(fold_count, shuffle=True, random_state=0).split(X, y))
#% endif
#% else
from sklearn.model_selection import KFold

fold_count = {{ 5 if v.train_rows <= 20000 else 3 }}
folds = list(KFold(fold_count, shuffle=True, random_state=0).split(X))
#% endif
#% if v.train_rows > 200000
folds = [(fit[:: 1 + len(fit) // 100_000], check) for fit, check in folds]
#% endif
pd.DataFrame([(len(fit), len(check)) for fit, check in folds], columns={{ ["学习的行数", "检验的行数"] if lang == "zh" else ["rows to learn from", "rows to check on"] }})
