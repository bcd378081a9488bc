#% set kind = "continuous" if v.task == "regression" else ("binary" if v.class_count | default(0) == 2 else "multiclass")
#% set has_numbers = not (v.number_columns is sequence and v.number_columns | length == 0)
#% set has_skewed = not (v.skewed_columns is sequence and v.skewed_columns | length == 0)
#% set has_few = not (v.few_levels is sequence and v.code_columns is sequence and v.few_levels | length + v.code_columns | length == 0)
#% set has_many = not (v.some_levels is sequence and v.many_levels is sequence and v.some_levels | length + v.many_levels | length + v.repeated_texts | length == 0)
from sklearn.compose import ColumnTransformer
#% if v.word_columns | length > 0
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
#% endif
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler, TargetEncoder
#% if has_numbers


def scaled(reach, *steps):
    """Gaps filled and flagged, then one scale for all; values further out than `reach` standard deviations are pulled in."""
    filled = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    within = FunctionTransformer(np.clip, kw_args={"a_min": -reach, "a_max": reach}, feature_names_out="one-to-one")
    return make_pipeline(filled, *steps, StandardScaler(), within)
#% endif
#% if has_few


def columns_of_own():
    return OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5, sparse_output=False)
#% endif
#% if v.word_columns | length > 0


def counted(vectorizer):
    """Words as columns; a missing text has none."""
    filled = SimpleImputer(strategy="constant", fill_value="", keep_empty_features=True)
    return make_pipeline(filled, FunctionTransformer(np.ravel), vectorizer)
#% endif


def linear_columns(reach):
    return ColumnTransformer(
        [
            #% if has_numbers
            ("numbers", scaled(reach), number_columns),
            #% endif
            #% if has_skewed
            (
                "logarithms",
                scaled(
                    reach,
                    FunctionTransformer(np.clip, kw_args={"a_min": 0, "a_max": None}, feature_names_out="one-to-one"),
                    FunctionTransformer(np.log1p, feature_names_out="one-to-one"),
                ),
                skewed_columns,
            ),
            #% endif
            #% if has_few
            ("categories", columns_of_own(), few_levels + code_columns),
            #% endif
            #% if has_many and v.task == "multilabel"
            (
                "levels",
                OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=60, sparse_output=False),
                some_levels + many_levels + repeated_texts,
            ),
            #% elif has_many
            ("levels", make_pipeline(TargetEncoder(target_type={{ kind }}), StandardScaler()), some_levels + many_levels + repeated_texts),
            #% endif
            #% for name in v.word_columns
            (
                {{ "words " ~ loop.index }},
                counted(TfidfVectorizer(binary=True, min_df=3, max_features=2000, token_pattern=r"[^\s,()\"/]+")),
                [{{ name }}],
            ),
            #% endfor
        ],
        sparse_threshold=0,
    )


for_linear = linear_columns(reach=4)
#% if has_numbers and v.task == "regression"
for_lines = linear_columns(reach=np.inf)  # where the line goes on, the far-out values show it best
#% endif
