features = given_features = numeric_columns + category_columns + text_columns
feature_count = len(features)
#% if v.task == "multilabel"
X, y = train[features], train[targets]
X_holdout, y_holdout = holdout[features], holdout[targets]
label_share = {name: round(float(share), 4) for name, share in y.mean().items()}
pd.Series(label_share, name={{ "行的占比" if lang == "zh" else "share of rows" }}).to_frame()
#% elif v.task == "regression"
X, y = train[features], train[target]
X_holdout, y_holdout = holdout[features], holdout[target]

target_positive, target_floor = bool((y > 0).all()), bool((y >= 0).all())
target_skew = round(float(y.skew()), 2)
target_counts = bool((y >= 0).all() and (y % 1 == 0).all() and y.min() <= 5 and target_skew > 0)
#% if "price" in (v.target | lower) or "价" in v.target
# Prices are judged by ratio: 10,000 too much weighs more on a cheap one than on a dear one.
relative_errors = target_positive and target_skew > 1
#% else
relative_errors = False
#% endif
y.describe(percentiles=[0.01, 0.25, 0.5, 0.75, 0.99]).to_frame()
#% else
X, y = train[features], train[target]
X_holdout, y_holdout = holdout[features], holdout[target]

shares = y.value_counts(normalize=True)
class_count = len(shares)
largest_class, largest_share = str(shares.index[0]), round(float(shares.iloc[0]), 4)
smallest_share, rare_class = round(float(shares.iloc[-1]), 4), shares.index[-1]
smallest_count, largest_count = int(y.value_counts().min()), int(y.value_counts().max())
shares.head(20).round(4).to_frame({{ "占比" if lang == "zh" else "share" }})
#% endif
