#% set kind = "continuous" if v.task == "regression" else ("binary" if v.class_count | default(0) == 2 else "multiclass")
#% set has_numbers = not (v.number_columns is sequence and v.number_columns | length == 0)
#% set has_few = not (v.few_levels is sequence and v.some_levels is sequence and v.few_levels | length + v.some_levels | length == 0)
#% set has_many = not (v.many_levels is sequence and v.many_levels | length + v.repeated_texts | length == 0)
#% set forest = v.train_rows <= 20000
from sklearn.preprocessing import OrdinalEncoder

#% if has_numbers
#% if v.split_kind == "time"
# A tree cannot follow a trend beyond the days it has seen: columns that only count time on are left to the line.
tree_numbers = [name for name in number_columns if not str(name).endswith(("_days", "_day", "_day_of_year"))]
#% else
tree_numbers = number_columns
#% endif
#% endif
for_trees = ColumnTransformer(
    [
        #% if has_few
        (
            "categories",
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1, min_frequency=3),
            few_levels + some_levels,
        ),
        #% endif
        #% if has_numbers
        ("numbers", "passthrough", tree_numbers),
        #% endif
        #% if has_many and v.task == "multilabel"
        (
            "levels",
            OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=60, sparse_output=False),
            many_levels + repeated_texts,
        ),
        #% elif has_many
        ("levels", TargetEncoder(target_type={{ kind }}), many_levels + repeated_texts),
        #% endif
        #% for name in v.word_columns
        (
            {{ "words " ~ loop.index }},
            counted(CountVectorizer(binary=True, min_df=0.01, max_features=40, token_pattern=r"[^\s,()\"/]+")),
            [{{ name }}],
        ),
        #% endfor
    ],
    sparse_threshold=0,
)
#% if forest
for_forests = make_pipeline(for_trees, SimpleImputer(strategy="median", keep_empty_features=True))
#% endif
#% if v.task != "multilabel" and v.feature_count <= 300 and (has_numbers or not (v.category_columns is sequence and v.category_columns | length == 0))
# The columns as they were given, for models as they come: what is done above must do better than that.
given_numbers = [name for name in given_features if name in numeric_columns]
given_categories = [name for name in given_features if name in category_columns]
plain_codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
as_given = ColumnTransformer([("categories", plain_codes, given_categories), ("numbers", "passthrough", given_numbers)], sparse_threshold=0)
#% endif
