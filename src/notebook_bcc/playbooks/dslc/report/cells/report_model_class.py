import pickle
import platform
import warnings
from importlib.metadata import version

from sklearn.base import BaseEstimator, clone


class TableModel(BaseEstimator):
    """A model for rows as they stand in the file. Its functions travel with it as source: no module is needed to load it."""

    def __init__(self, estimator, features=(), targets=(), identifiers=()):
        self.estimator, self.features, self.targets, self.identifiers = estimator, features, targets, identifiers

    def fit(self, table, answers):
        """Learn from raw rows; the versions of the packages are noted."""
        ready = self.ready(table)
        part_of = {name: [raw for raw in table.columns if name.startswith(f"{raw}_")] for name in self.features if name not in table}
        needed = {*self.features, *(max(raws, key=len) for raws in part_of.values() if raws)}
        self.feature_names_in_ = np.array([name for name in table.columns if name in needed], dtype=object)
        self.estimator_ = clone(self.estimator).fit(ready, answers)
        self.versions_ = {"python": platform.python_version(), **{name: version(name) for name in ("numpy", "pandas", "scikit-learn")}}
        return self

    def __sklearn_is_fitted__(self):
        return hasattr(self, "estimator_")

    def ready(self, table):
        """Rows with the columns that the estimator learnt from."""
        missing = [name for name in getattr(self, "feature_names_in_", []) if name not in table]
        if missing:
            raise ValueError("columns that the model needs are missing: " + ", ".join(map(repr, missing)))
        #% if v.derived_columns is defined
        prepared = prepare(plain_types(table))
        return derive(prepared[[name for name in self.features if name in prepared]])
        #% else
        return prepare(plain_types(table))[list(self.features)]
        #% endif

    def predict(self, table):
        return self.estimator_.predict(self.ready(table))
    #% if v.task in ["binary", "multiclass"]

    def predict_proba(self, table):
        return self.estimator_.predict_proba(self.ready(table))

    @property
    def classes_(self):
        return self.estimator_.classes_
    #% endif

    def read(self, path):
        """The rows of a file that is written like the one this model learnt from."""
        #% if v.grouped_numbers is defined and v.grouped_numbers
        return with_numbers(read_table(path))
        #% else
        return read_table(path)
        #% endif

    def predictions(self, table):
        """One line for each row: what names it, if anything does, and the prediction."""
        names = [name for name in self.identifiers if name in table and table[name].is_unique][:1]
        answers = pd.DataFrame(self.predict(table), columns=list(self.targets), index=table.index)
        return pd.concat([table[names], answers], axis=1)

    def __reduce__(self):
        saved = {"state": pickle.dumps(self.__dict__), "versions": self.versions_, "model_source": model_source}
        return eval, ("exec(model_source) or restored(state, versions)", {"__name__": "table_model", **saved})


def plain_types(table):
    """Nullable, Arrow and category columns as they come from a file."""
    out = {}
    for name, column in table.items():
        if not isinstance(column.dtype, np.dtype):
            if column.dtype.kind in "biuf":
                column = column.astype("float64")
            elif column.dtype.kind == "M":
                column = pd.to_datetime(column)
            else:
                column = column.astype(object).where(column.notna(), np.nan)
        out[name] = column
    return pd.DataFrame(out, index=table.index)


def restored(state, versions):
    """The model that was saved. Other versions of its packages are told in one sentence."""
    here = {name: platform.python_version() if name == "python" else version(name) for name in versions}
    other = ", ".join(f"{name} {made} (here {here[name]})" for name, made in versions.items() if here[name] != made)
    model = TableModel.__new__(TableModel)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.__dict__.update(pickle.loads(state))
    except (AttributeError, ImportError, TypeError, ValueError, KeyError) as error:
        raise RuntimeError(f"this model cannot be loaded here: it was made with {other}; requirements.txt lists them") from error
    if other:
        warnings.warn(f"this model was made with {other}; its predictions may differ", stacklevel=2)
    return model
