from sklearn.model_selection import cross_val_score
#% if v.task == "regression"
from sklearn.tree import DecisionTreeRegressor as Tree
#% else
from sklearn.tree import DecisionTreeClassifier as Tree
#% endif


def as_numbers(table, names):
    """Categories by how often they occur, missing as -1: all that a small tree needs."""
    codes = {}
    for name in names:
        column = table[name]
        if column.dtype.kind not in "biuf":
            usual = column.value_counts()
            column = column.map({level: rank for rank, level in enumerate(usual.index[usual >= 3])})
        codes[name] = column.astype(float).fillna(-1.0)
    return pd.DataFrame(codes, index=table.index)


# Does one column alone give the answer away? A small tree on each, on training rows only.
few = train.sample(min(len(train), 3_000), random_state=0)
codes = as_numbers(few, [name for name in candidate_columns if dropped_columns.get(name, "not in test") == "not in test"])
#% if v.task == "regression"
answer, measure = few[target].astype(float), "r2"
related = codes.rank().corrwith(answer.rank()).abs().fillna(0.0)
#% else
#% if v.task == "multilabel"
answer, measure = few[target_names].astype(str).agg(" ".join, axis=1), "accuracy"
#% else
answer, measure = few[target].astype(str), "{{ "roc_auc" if v.task == "binary" else "accuracy" }}"
#% endif
answer = answer.where(answer.map(answer.value_counts()) >= 6, "(rare)")
answer = answer[answer.map(answer.value_counts()) >= 6]  # so few rows cannot be in every fold
codes = codes.loc[answer.index]
related = codes.rank().corrwith(answer.map({label: at for at, label in enumerate(sorted(answer.unique()))})).abs().fillna(0.0)
#% endif
single_scores = {}
for name in related.nlargest(60).index if answer.nunique() > 1 else []:
    tree = Tree(max_leaf_nodes=16, min_samples_leaf=5, random_state=0)
    single_scores[name] = round(float(cross_val_score(tree, codes[[name]], answer, cv=3, scoring=measure).mean()), 4)
best_single = dict(sorted(single_scores.items(), key=lambda pair: -pair[1])[:10])
pd.Series(best_single, dtype=float).to_frame({{ "仅用这一列的得分" if lang == "zh" else "score of this column alone" }})
