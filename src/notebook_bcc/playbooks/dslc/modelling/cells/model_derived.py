X, X_holdout = derive(train[given_features]), derive(holdout[given_features])
derived_columns = [name for name in X.columns if name not in given_features]
#% if v.place_columns | length > 0
derived_categories = [name for name in derived_columns if name.startswith("cell of")]
category_columns = list(dict.fromkeys(category_columns + derived_categories))
numeric_columns = list(dict.fromkeys(numeric_columns + [name for name in derived_columns if name not in derived_categories]))
#% else
numeric_columns = list(dict.fromkeys(numeric_columns + derived_columns))
#% endif
features = list(X.columns)
feature_count = len(features)
X[derived_columns].describe(include="all").T.head(12)
