#% if not v.can_model
# There is nothing to predict: no rows are held back.
train, holdout, split_kind = df_clean, df_clean.iloc[:0], "none"
#% elif v.time_column
# The newest fifth is set aside; rows of one moment stay together.
ordered = df_clean.sort_values({{ v.time_column }}, kind="stable").reset_index(drop=True)
rows = min(max(round(0.2 * len(ordered)), 5), 50_000)
cut = ordered[{{ v.time_column }}].iloc[len(ordered) - rows]
earlier = ordered[{{ v.time_column }}] < cut
train, holdout, split_kind = ordered[earlier], ordered[~earlier], "time"
#% elif v.group_column and v.task in ["binary", "multiclass"]
from sklearn.model_selection import StratifiedGroupKFold

# A fifth of the subjects, each class with about its share
halves = StratifiedGroupKFold(5, shuffle=True, random_state=0).split(df_clean, df_clean[target], df_clean[{{ v.group_column }}])
inside, outside = next(halves)
train, holdout, split_kind = df_clean.iloc[inside], df_clean.iloc[outside[:50_000]], "group"
#% elif v.group_column
from sklearn.model_selection import GroupShuffleSplit

share = min(0.2, 50_000 / len(df_clean))
halves = GroupShuffleSplit(n_splits=1, test_size=share, random_state=0).split(df_clean, groups=df_clean[{{ v.group_column }}])
inside, outside = next(halves)
train, holdout, split_kind = df_clean.iloc[inside], df_clean.iloc[outside], "group"
#% else
from sklearn.model_selection import train_test_split

rows = min(max(round(0.2 * len(df_clean)), 5), 50_000)
#% if v.task == "binary" or v.task == "multiclass"
strata = df_clean[target].astype(str)  # each class keeps its share
#% if not v.class_counts is mapping or v.class_counts | values | min < 2
# A class of a single row has no share to keep.
strata = strata.where(strata.map(strata.value_counts()) >= 2, strata.mode()[0])
#% endif
train, holdout = train_test_split(df_clean, test_size=rows, random_state=0, stratify=strata)
split_kind = "stratified"
#% else
train, holdout = train_test_split(df_clean, test_size=rows, random_state=0)
split_kind = "random"
#% endif
#% endif
train, holdout = train.reset_index(drop=True), holdout.reset_index(drop=True)
train_rows, holdout_rows = len(train), len(holdout)
#% if v.can_model and v.task == "binary"
classes = df_clean[target].dropna().unique()
#% if v.time_column
early = train.iloc[: 7 * len(train) // 8]  # what comes last can only be tested on
learnable_rows = int(early[target].value_counts().reindex(classes, fill_value=0).min())
#% else
learnable_rows = int(train[target].value_counts().reindex(classes, fill_value=0).min())
#% endif
#% endif
#% if v.can_model
print({{ "学习用的行：" if lang == "zh" else "rows to learn from:" }}, train_rows, {{ "，留出：" if lang == "zh" else "set aside:" }}, holdout_rows)
#% endif
