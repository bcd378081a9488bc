#% set classes = v.task in ["binary", "multiclass"]
#% if v.split_kind == "time"
from sklearn.model_selection import TimeSeriesSplit

#% if classes
# Nothing can be learnt before the classes have appeared.
begin = max(int(np.flatnonzero(y == label)[:2][-1]) for label in y.value_counts().index[:2]) + 1
size = max(1, min(len(X) // 8, (len(X) - begin) // fold_count))
#% else
size = max(1, len(X) // 8)
#% endif
divisions = [list(TimeSeriesSplit(fold_count, test_size=size).split(X))]
#% elif v.split_kind == "group"
#% if classes
from sklearn.model_selection import StratifiedGroupKFold as GroupFolds
#% else
from sklearn.model_selection import GroupKFold as GroupFolds
#% endif

groups = train[{{ v.group_column }}]
fold_count = min(fold_count, groups.nunique())
divisions = [list(GroupFolds(fold_count, shuffle=True, random_state=seed).split(X, y, groups)) for seed in range(repeat_count)]
#% if classes
# A fold whose other rows are all of one class has nothing to teach.
divisions = [[(fit, check) for fit, check in folds if y.iloc[fit].nunique() > 1] for folds in divisions]
#% endif
#% elif classes
from sklearn.model_selection import StratifiedKFold

#% if v.task == "multiclass"
# Classes with fewer rows than folds share one stratum: each fold still gets its part of them.
strata = y.where(y.map(y.value_counts()) >= fold_count, y.mode()[0])
#% else
strata = y
#% endif
divisions = [list(StratifiedKFold(fold_count, shuffle=True, random_state=seed).split(X, strata)) for seed in range(repeat_count)]
#% else
from sklearn.model_selection import KFold

divisions = [list(KFold(fold_count, shuffle=True, random_state=seed).split(X)) for seed in range(repeat_count)]
#% endif
folds = divisions[0]
#% if v.train_rows > 200000
folds = [(fit[:: 1 + len(fit) // 100_000], check) for fit, check in folds]
#% endif
pd.DataFrame([(len(fit), len(check)) for fit, check in folds], columns={{ ["学习的行数", "检验的行数"] if lang == "zh" else ["rows to learn from", "rows to check on"] }})
