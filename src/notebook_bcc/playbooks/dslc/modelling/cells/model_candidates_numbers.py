#% set n = v.train_rows
#% set small = n <= 20000
#% set m = v.feature_count
#% set wide = m > 300
#% set has_few = not wide and not (v.few_levels is sequence and v.some_levels is sequence and v.few_levels | length + v.some_levels | length == 0)
#% set lasso = n <= 5000 and n * m < 3000000 and v.word_columns | length == 0
#% set vectors = n <= 4000
#% set deep = n >= 2000
#% set forest = n <= 20000
#% if lasso
import warnings

#% endif
#% if vectors
from sklearn.compose import TransformedTargetRegressor
#% endif
#% if forest
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
#% else
from sklearn.ensemble import HistGradientBoostingRegressor
#% endif
#% if lasso
from sklearn.exceptions import ConvergenceWarning
#% endif
#% if wide
from sklearn.feature_selection import SelectKBest, f_regression
#% endif
#% if lasso
from sklearn.linear_model import LassoCV, RidgeCV
#% else
from sklearn.linear_model import RidgeCV
#% endif
#% if vectors
from sklearn.svm import SVR
#% endif
#% if small
from threadpoolctl import threadpool_limits

# On a table of this size two threads wait for each other longer than they work.
threadpool_limits(1)
#% endif
#% if lasso
# The folds judge what comes out: a fit that is not at its optimum to the last digit is no reason for a warning.
warnings.filterwarnings("ignore", category=ConvergenceWarning)
#% endif
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


candidates = {
    "ridge": make_pipeline(for_linear, RidgeCV(alphas=np.logspace(-2, 4, 25))),
    #% if lasso
    "lasso": make_pipeline(for_linear, LassoCV(cv=4, max_iter=3000, selection="random", random_state=0)),
    #% endif
    #% if vectors
    "support vectors": make_pipeline(
        for_linear,
        TransformedTargetRegressor(SVR(C=10, epsilon=0.05, gamma={{ 0.1 / m if m > 10 else 0.01 }}), transformer=StandardScaler()),
    ),
    #% endif
    #% if n <= 5000
    "shallow trees": boosted(max_iter=500, learning_rate=0.04, max_leaf_nodes=6, min_samples_leaf=10, max_features=0.3, l2_regularization=1),
    #% else
    "shallow trees": boosted(max_iter=400, learning_rate=0.06, max_leaf_nodes=15, min_samples_leaf=20, max_features=0.5, l2_regularization=1),
    #% endif
    #% if deep and n <= 5000
    "deep trees": boosted(max_iter=500, learning_rate=0.04, max_leaf_nodes=31, min_samples_leaf=5, max_features=0.5, l2_regularization=1),
    #% elif deep
    "deep trees": boosted(max_iter=500, learning_rate=0.04, max_leaf_nodes=63, min_samples_leaf=10, max_features=0.5, l2_regularization=1),
    #% endif
    #% if v.metric == "rmse" and v.target_counts
    # The target counts something: effects multiply, and errors grow with the size.
    "trees for counts": boosted(
        loss="poisson", max_iter=600, learning_rate=0.05, max_leaf_nodes=12, min_samples_leaf=20, max_features=0.5, l2_regularization=1
    ),
    #% endif
    #% if forest
    "extra trees": make_pipeline(
        for_forests, ExtraTreesRegressor({{ 200 if n <= 5000 else 100 }}, max_features=0.4, random_state=0)
    ),
    #% endif
}
