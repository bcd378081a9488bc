#% set n = v.train_rows
#% set m = v.feature_count
#% set wide = m > 300
#% set has_few = not wide and not (v.few_levels is sequence and v.some_levels is sequence and v.few_levels | length + v.some_levels | length == 0)
#% set has_numbers = not (v.number_columns is sequence and v.number_columns | length == 0)
#% set plain = not wide and (has_numbers or not (v.category_columns is sequence and v.category_columns | length == 0))
#% set lasso = n <= 5000 and n * m < 3000000 and v.word_columns | length == 0
#% set vectors = n <= 4000
#% set forest = n <= 20000
#% set counts = v.metric == "rmse" and v.target_counts
#% set amounts = v.metric == "rmse" and not v.target_counts and v.target_positive and v.target_skew > 1
#% set log_plain = plain and v.metric == "log_rmse"
#% if log_plain
from functools import partial
#% endif
import warnings

#% if plain and v.has_lightgbm
from lightgbm import LGBMRegressor
#% endif
#% if vectors or log_plain
from sklearn.compose import TransformedTargetRegressor
#% endif
from sklearn.ensemble import HistGradientBoostingRegressor
#% if forest
from sklearn.ensemble import ExtraTreesRegressor
#% endif
from sklearn.exceptions import ConvergenceWarning
#% if wide
from sklearn.feature_selection import SelectKBest, f_regression
#% endif
from sklearn.linear_model import RidgeCV
#% if lasso
from sklearn.linear_model import LassoCV
#% endif
#% if counts
from sklearn.linear_model import PoissonRegressor
#% elif amounts
from sklearn.linear_model import GammaRegressor
#% endif
#% if vectors
from sklearn.svm import SVR
#% endif

# The folds judge what comes out: a fit that is not at its optimum to the last digit is no reason for a warning.
warnings.filterwarnings("ignore", category=ConvergenceWarning)
#% if wide

# Of so many columns the trees get the 150 that say most on their own, found anew in every fold.
for_forests = make_pipeline(for_trees, SimpleImputer(keep_empty_features=True), SelectKBest(f_regression, k=150))
#% endif


def boosted(**settings):
    #% if has_few
    return make_pipeline(
        for_trees,
        HistGradientBoostingRegressor(
            categorical_features=range(len(few_levels + some_levels)), early_stopping=False, random_state=0, **settings
        ),
    )
    #% else
    return make_pipeline({{ ("for_forests" if wide else "for_trees") | name }}, HistGradientBoostingRegressor(early_stopping=False, random_state=0, **settings))
    #% endif
#% if log_plain


def of_amounts(estimator):
    """Learns the amounts themselves where the other candidates learn their logarithms."""
    positive = FunctionTransformer(inverse_func=partial(np.clip, a_min=smallest_price, a_max=None), check_inverse=False)
    return TransformedTargetRegressor(estimator, transformer=make_pipeline(FunctionTransformer(np.exp, np.log), positive))
#% endif


candidates = {
    "ridge": make_pipeline(for_linear, RidgeCV(alphas=np.logspace(-2, 4, 25))),
    #% if has_numbers and not wide
    "plain ridge": make_pipeline(for_lines, RidgeCV(alphas=np.logspace(-2, 4, 25))),
    #% endif
    #% if lasso
    "lasso": make_pipeline(for_linear, LassoCV(cv=4, max_iter=3000, selection="random", random_state=0)),
    #% endif
    #% if vectors
    "support vectors": make_pipeline(
        for_linear,
        TransformedTargetRegressor(SVR(C=10, epsilon=0.05, gamma={{ 0.1 / m if m > 10 else 0.01 }}), transformer=StandardScaler()),
    ),
    #% endif
    #% if n < 500
    "shallow trees": boosted(max_iter=200, learning_rate=0.08, max_leaf_nodes=6, min_samples_leaf=10, max_features=0.3, l2_regularization=1),
    #% elif n <= 5000
    "shallow trees": boosted(max_iter=500, learning_rate=0.04, max_leaf_nodes=6, min_samples_leaf=10, max_features=0.3, l2_regularization=1),
    #% else
    "shallow trees": boosted(max_iter=400, learning_rate=0.06, max_leaf_nodes=15, min_samples_leaf=20, max_features=0.5, l2_regularization=1),
    #% endif
    #% if n < 500
    "deep trees": boosted(max_iter=100, learning_rate=0.1, max_leaf_nodes=31, min_samples_leaf=5, max_features=0.5, l2_regularization=1),
    #% elif n < 2000
    "deep trees": boosted(max_iter=200, learning_rate=0.08, max_leaf_nodes=31, min_samples_leaf=5, max_features=0.5, l2_regularization=1),
    #% elif n <= 5000
    "deep trees": boosted(max_iter=500, learning_rate=0.04, max_leaf_nodes=31, min_samples_leaf=5, max_features=0.5, l2_regularization=1),
    #% else
    "deep trees": boosted(max_iter=500, learning_rate=0.04, max_leaf_nodes=63, min_samples_leaf=10, max_features=0.5, l2_regularization=1),
    #% endif
    #% if counts
    # The target counts something: effects multiply, and errors grow with the size.
    "poisson regression": make_pipeline(for_linear, PoissonRegressor(alpha=0.01, max_iter=300)),
    "trees for counts": boosted(
        loss="poisson", max_iter={{ 200 if n < 500 else 600 }}, learning_rate=0.05, max_leaf_nodes=12, min_samples_leaf=20, max_features=0.5, l2_regularization=1
    ),
    #% elif amounts
    # Amounts that are never negative and reach far up: effects multiply, and errors grow with the size.
    "gamma regression": make_pipeline(for_linear, GammaRegressor(alpha=0.01, max_iter=300)),
    "trees for amounts": boosted(
        loss="gamma", max_iter={{ 200 if n < 500 else 400 }}, learning_rate=0.05, max_leaf_nodes=12, min_samples_leaf=20, max_features=0.5, l2_regularization=1
    ),
    #% endif
    #% if forest
    "extra trees": make_pipeline(
        for_forests, ExtraTreesRegressor({{ 200 if n >= 500 and n <= 5000 else 100 }}, max_features=0.4, random_state=0)
    ),
    #% endif
    #% if log_plain
    "boosted trees as they come": of_amounts(make_pipeline(as_given, HistGradientBoostingRegressor(random_state=0))),
    #% elif plain
    "boosted trees as they come": make_pipeline(as_given, HistGradientBoostingRegressor(random_state=0)),
    #% endif
    #% if plain and v.has_lightgbm
    "lightgbm": make_pipeline(
        as_given, LGBMRegressor(random_state=0, deterministic=True, force_row_wise=True, n_jobs=1, verbose=-1)
    ),
    #% endif
}
