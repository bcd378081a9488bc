#% set n = v.train_rows
#% set m = v.feature_count
#% set wide = m > 300
#% set has_few = not wide and not (v.few_levels is sequence and v.some_levels is sequence and v.few_levels | length + v.some_levels | length == 0)
#% set two = v.class_count == 2
#% set vectors = two and n <= 4000
#% set forest = n <= 20000
#% set has_numbers = not (v.number_columns is sequence and v.number_columns | length == 0)
#% set plain = not wide and (has_numbers or not (v.category_columns is sequence and v.category_columns | length == 0))
#% set stopped = n > 20000 and v.split_kind == "stratified" and v.smallest_share >= 0.005
import warnings

#% if plain and v.has_lightgbm
from lightgbm import LGBMClassifier
#% endif
#% if vectors
from sklearn.calibration import CalibratedClassifierCV
#% endif
#% if forest
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
#% else
from sklearn.ensemble import HistGradientBoostingClassifier
#% endif
from sklearn.exceptions import ConvergenceWarning
#% if wide
from sklearn.feature_selection import SelectKBest, f_classif
#% endif
from sklearn.linear_model import LogisticRegression
#% if vectors
from sklearn.svm import SVC
#% endif

# The folds judge what comes out: a fit that is not at its optimum to the last digit is no reason for a warning.
warnings.filterwarnings("ignore", category=ConvergenceWarning)
#% if wide

# Of so many columns the trees get the 150 that say most on their own, found anew in every fold.
for_forests = make_pipeline(for_trees, SimpleImputer(keep_empty_features=True), SelectKBest(f_classif, k=150))
#% endif


#% if stopped
def boosted(early_stopping=False, **settings):
    #% if has_few
    return make_pipeline(
        for_trees,
        HistGradientBoostingClassifier(
            categorical_features=range(len(few_levels + some_levels)), early_stopping=early_stopping, random_state=0, **settings
        ),
    )
    #% else
    return make_pipeline({{ ("for_forests" if wide else "for_trees") | name }}, HistGradientBoostingClassifier(early_stopping=early_stopping, random_state=0, **settings))
    #% endif
#% else
def boosted(**settings):
    #% if has_few
    return make_pipeline(
        for_trees,
        HistGradientBoostingClassifier(
            categorical_features=range(len(few_levels + some_levels)), early_stopping=False, random_state=0, **settings
        ),
    )
    #% else
    return make_pipeline({{ ("for_forests" if wide else "for_trees") | name }}, HistGradientBoostingClassifier(early_stopping=False, random_state=0, **settings))
    #% endif
#% endif


candidates = {
    "logistic": make_pipeline(for_linear, LogisticRegression(C={{ 0.05 if wide else 1.0 }}, max_iter=500)),
    #% if vectors
    "support vectors": make_pipeline(for_linear, CalibratedClassifierCV(SVC(C=2), cv=3, ensemble=False)),
    #% endif
    #% if two and n > 20000
    "small trees": boosted(max_iter=500, learning_rate=0.1, max_leaf_nodes=8, l2_regularization=1),
    #% endif
    #% if n < 500
    "shallow trees": boosted(
        max_iter={{ 200 if two else 100 }}, learning_rate=0.08, max_leaf_nodes=6, min_samples_leaf=10, max_features=0.3, l2_regularization=1
    ),
    #% elif n <= 5000
    "shallow trees": boosted(
        max_iter={{ 500 if two else 166 }}, learning_rate={{ 0.04 if two else 0.068 }}, max_leaf_nodes=6, min_samples_leaf=10, max_features=0.3,
        l2_regularization=1,
    ),
    #% else
    "shallow trees": boosted(
        max_iter={{ 400 if two else 133 }}, learning_rate={{ 0.06 if two else 0.1 }}, max_leaf_nodes=15, min_samples_leaf=20, max_features=0.5,
        l2_regularization=1,
    ),
    #% endif
    #% if stopped
    # A tenth of so many rows can be spared to tell when deep trees have learnt enough.
    "deep trees": boosted(
        early_stopping=True, n_iter_no_change=20, max_iter={{ 500 if two else 166 }}, learning_rate={{ 0.04 if two else 0.068 }}, max_leaf_nodes=63,
        min_samples_leaf=10, max_features=0.5, l2_regularization=1,
    ),
    #% elif n < 2000
    "deep trees": boosted(
        max_iter={{ (100 if n < 500 else 200) if two else 60 }}, learning_rate=0.1, max_leaf_nodes=31, min_samples_leaf=5, max_features=0.5, l2_regularization=1
    ),
    #% else
    "deep trees": boosted(
        max_iter={{ 500 if two else 166 }}, learning_rate={{ 0.04 if two else 0.068 }}, max_leaf_nodes={{ 63 if n > 5000 else 31 }},
        min_samples_leaf={{ 10 if n > 5000 else 5 }}, max_features=0.5, l2_regularization=1,
    ),
    #% endif
    #% if forest
    "extra trees": make_pipeline(
        for_forests,
        ExtraTreesClassifier({{ 200 if n >= 500 and n <= 5000 else 100 }}, min_samples_leaf={{ 3 if two else 1 }}, max_features=0.4, random_state=0),
    ),
    #% endif
    #% if plain
    "boosted trees as they come": make_pipeline(as_given, HistGradientBoostingClassifier(early_stopping=False, random_state=0)),
    #% endif
    #% if plain and v.has_lightgbm
    "lightgbm": make_pipeline(
        as_given, LGBMClassifier(random_state=0, deterministic=True, force_row_wise=True, n_jobs=1, verbose=-1)
    ),
    #% endif
}
