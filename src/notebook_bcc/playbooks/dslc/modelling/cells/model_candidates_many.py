#% set n = v.train_rows
import warnings

from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

# The folds judge what comes out: a fit that is not at its optimum to the last digit is no reason for a warning.
warnings.filterwarnings("ignore", category=ConvergenceWarning)

candidates = {
    "logistic": make_pipeline(for_linear, MultiOutputClassifier(LogisticRegression(C=0.3, max_iter=1000))),
    #% if n <= 60000
    "extra trees": make_pipeline(for_forests, ExtraTreesClassifier(300, min_samples_leaf=2, random_state=0)),
    #% endif
    "boosted trees": make_pipeline(
        for_trees, MultiOutputClassifier(HistGradientBoostingClassifier(max_iter=150, max_leaf_nodes=15, random_state=0))
    ),
}
