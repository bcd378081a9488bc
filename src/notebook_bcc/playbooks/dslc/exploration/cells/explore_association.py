# How much of the target goes with each feature? Ten bins of a number, or the categories, explain a share of its variance;
# the square root of that share runs from 0 to 1, also where the relation is no straight line.
def strength(column, wanted):
    if column.dtype.kind in "biuf" and column.nunique() > 10:
        column = pd.qcut(column, 10, labels=False, duplicates="drop")
    groups, levels = pd.factorize(column, use_na_sentinel=False)
    left = ((wanted - wanted.groupby(groups).transform("mean")) ** 2).sum().sum() / max(len(column) - len(levels), 1)
    whole = ((wanted - wanted.mean()) ** 2).sum().sum() / (len(column) - 1)
    return round(float(np.sqrt(max(0.0, 1 - left / whole))), 3) if whole else 0.0


#% if v.task == "regression"
wanted = look[[target]].rank()
#% elif v.task == "multilabel"
wanted = look[target_names].astype(float)
#% else
wanted = pd.get_dummies(look[target].astype(str)).astype(float)
#% endif
#% if v.numeric_columns is string
# Of so many numbers only those are looked at whose ranks go best with the target.
likely = look[numeric_columns].rank().corrwith(wanted.iloc[:, 0].rank()).abs().nlargest(300).index
#% else
likely = numeric_columns
#% endif
association = {name: strength(look[name], wanted) for name in [*likely, *category_columns[:300]]}
association = dict(sorted(association.items(), key=lambda pair: -pair[1])[:12])
pd.Series(association, dtype=float).to_frame({{ "与目标的关联" if lang == "zh" else "association with the target" }})
