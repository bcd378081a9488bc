#% if v.task == "regression" and v.relative_errors
metric, higher_is_better = "log_rmse", False
smallest_price = float(y.min()) / 2  # a forecast of zero or less would have no logarithm


def score(actual, predicted):
    return float(np.sqrt(np.mean((np.log(actual) - np.log(np.maximum(predicted, smallest_price))) ** 2)))
#% elif v.task == "regression"
metric, higher_is_better = "rmse", False


def score(actual, predicted):
    return float(np.sqrt(np.mean((np.asarray(actual) - np.asarray(predicted)) ** 2)))
#% elif v.task == "multilabel"
from sklearn.metrics import f1_score

metric, higher_is_better = "macro_f1", True


def score(actual, predicted):
    return float(f1_score(actual, predicted, average="macro", zero_division=0))
#% elif v.task == "binary" and v.smallest_share < 0.3
from sklearn.metrics import roc_auc_score

metric, higher_is_better = "roc_auc", True


def score(actual, probability):
    return float(roc_auc_score(actual, probability)) if len(np.unique(actual)) == 2 else np.nan
#% else
metric, higher_is_better = "accuracy", True


def score(actual, predicted):
    return float(np.mean(np.asarray(actual) == np.asarray(predicted)))
#% endif


def plain_number(value):
    """11,940 or 0.8153: as people write it, without powers of ten."""
    if value is None or value != value:  # not a number
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value + 0.0:.4g}"
