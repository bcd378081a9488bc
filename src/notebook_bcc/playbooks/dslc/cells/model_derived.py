from derive import derive

before = list(X.columns)
X, X_holdout = derive(X), derive(X_holdout)
derived_columns = [name for name in X.columns if name not in before]
#% if v.place_columns | length > 0
category_columns = category_columns + [name for name in derived_columns if name.startswith("cell of")]
#% endif
numeric_columns = numeric_columns + [name for name in derived_columns if name not in category_columns]
features = list(X.columns)
feature_count = len(features)
X[derived_columns].describe(include="all").T.head(12)
