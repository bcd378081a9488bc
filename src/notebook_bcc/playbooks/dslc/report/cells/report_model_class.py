#% set facts = v.file_facts
#% set by_names = facts.format == "excel" or (facts.format == "text" and not facts.plain and not facts.names_fit)
import pickle
import platform
import warnings
import zlib
from importlib.metadata import version

from sklearn.base import BaseEstimator, clone


class TableModel(BaseEstimator):
    """A model for rows as they stand in the file. Its functions travel with it as source: no module is needed to load it."""

    # How the file was written that this model learnt from.
    #% if facts.format == "text"
    written = {{ {"format": "text", "encoding": facts.encoding, "separator": facts.separator, "decimal": facts.decimal, "header": facts.header | default(true)} }}
    #% else
    written = {{ {"format": facts.format, "header": facts.header | default(true)} }}
    #% endif

    def __init__(self, estimator, features=(), targets=(), identifiers=()):
        self.estimator, self.features, self.targets, self.identifiers = estimator, features, targets, identifiers

    def fit(self, table, answers):
        """Learn from raw rows; the versions of the packages are noted."""
        ready = self.ready(table)
        part_of = {name: [raw for raw in table.columns if name.startswith(f"{raw}_")] for name in self.features if name not in table}
        needed = {*self.features, *(max(raws, key=len) for raws in part_of.values() if raws)}
        self.feature_names_in_ = np.array([name for name in table.columns if name in needed], dtype=object)
        self.numbers_ = [name for name in table.columns if table[name].dtype.kind in "iuf"]
        prepared = prepare(plain_types(table))
        words = [name for name in self.features if name in prepared and prepared[name].dtype == object]
        # Categories; texts that hardly ever repeat are none.
        self.known_ = {name: set(prepared[name].dropna()) for name in words if 2 * prepared[name].nunique() <= prepared[name].count()}
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
        return self.asked("predict", table)
    #% if v.task in ["binary", "multiclass"]

    def predict_proba(self, table):
        return self.asked("predict_proba", table)

    @property
    def classes_(self):
        return self.estimator_.classes_
    #% endif

    def asked(self, method, table):
        """What the estimator answers. Where it fails under other versions of its packages, they are named."""
        ready = self.ready(table)
        try:
            return getattr(self.estimator_, method)(ready)
        except Exception as error:
            other = other_versions(self.versions_)
            if not other:
                raise
            raise RuntimeError(f"this model cannot predict here: it was made with {other}; requirements.txt beside it lists the versions") from error

    def read(self, path):
        """The rows of a file that is written like the one this model learnt from. It need not have the target."""
        #% if by_names
        table = read_table(path, names=names_in(path, self.targets))
        #% else
        table = read_table(path)
        #% endif
        #% if v.grouped_numbers is defined and v.grouped_numbers
        table = with_numbers(table)
        #% endif
        #% if facts.format == "text" and facts.decimal == ","
        for name in self.numbers_:
            # One value that is no number makes text of its column, decimal commas and all.
            if name in table and table[name].dtype.kind not in "biuf":
                table[name] = table[name].replace(r"^\s*([+-]?\d*),(\d+)\s*$", r"\1.\2", regex=True)
        #% endif
        return table

    def doubts(self, table):
        """What is odd in new rows, by column, with counts and examples: values that cannot be read, unknown categories."""
        rows = plain_types(table)
        parsed, prepared, unread, unknown = parse(rows), prepare(rows), {}, {}
        for name in self.feature_names_in_:
            lost = rows[name][rows[name].notna() & parsed[name].isna()].astype(str)
            unread[name] = lost[lost.str.strip() != ""]
        for name, known in self.known_.items():
            given = prepared[name].dropna()
            whole = name if name in table else max((raw for raw in table if name.startswith(f"{raw}_")), key=len, default=name)
            unknown[whole] = given[~given.isin(known)].astype(str)
        listed = [{str(name): [len(odd), list(odd.unique()[:3])] for name, odd in found.items() if len(odd)} for found in (unread, unknown)]
        return {"unread": listed[0], "unknown": listed[1]}

    def predictions(self, table):
        """One line for each row: what names it, if anything does, and the prediction."""
        names = [name for name in self.identifiers if name in table and table[name].is_unique][:1]
        answers = pd.DataFrame(self.predict(table), columns=list(self.targets), index=table.index)
        return pd.concat([table[names], answers], axis=1)

    def __reduce__(self):
        saved = {"state": zlib.compress(pickle.dumps(self.__dict__)), "versions": self.versions_, "model_source": model_source}
        return eval, ("exec(model_source) or restored(state, versions)", {"__name__": "table_model", **saved})


#% if by_names
def names_in(path, targets):
    """The names of the columns of a file with new rows: they may stand in another order, and the target may be missing."""
    #% if facts.format == "excel"
    first = pd.read_excel(path, sheet_name={{ facts.sheet }}, header=None, skiprows={{ facts.begins }}, nrows=1, dtype="str", keep_default_na=False)
    #% else
    first = pd.read_csv(
        path,
        header=None,
        nrows=1,
        dtype="str",
        keep_default_na=False,
        sep={{ facts.separator }},
        encoding={{ facts.encoding }},
        #% if facts.wrong_characters
        encoding_errors="replace",
        #% endif
        #% if facts.quoting
        quoting=csv.QUOTE_NONE,
        #% endif
        #% if facts.spaced
        skipinitialspace=True,
        #% endif
        #% if facts.begins
        skiprows={{ facts.begins }},
        #% endif
    )
    #% endif
    known = {{ v.column_names if v.column_names is sequence else "column_names" | name }}
    #% if facts.header
    names = clean_names(first.iloc[0].fillna(""))
    if names[0] not in known:
        names[0] = names[0].lstrip("#%/ ")  # names in a line of comment
    return ["row_name", *names] if known[0] == "row_name" != names[0] else names
    #% else
    # Rows without names come in the order of the file, with or without the target.
    return known if first.shape[1] >= len(known) else [name for name in known if name not in targets]
    #% endif


#% endif
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


def other_versions(versions):
    """The packages that are of another version here than where the model was made; empty where none is."""
    here = {name: platform.python_version() if name == "python" else version(name) for name in versions}
    return ", ".join(f"{name} {made} (here {here[name]})" for name, made in versions.items() if here[name] != made)


def restored(state, versions):
    """The model that was saved. Other versions of its packages are listed in one sentence."""
    other = other_versions(versions)
    model = TableModel.__new__(TableModel)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.__dict__.update(pickle.loads(zlib.decompress(state)))
    except (AttributeError, ImportError, TypeError, ValueError, KeyError) as error:
        raise RuntimeError(f"this model cannot be loaded here: it was made with {other}; requirements.txt lists them") from error
    if other:
        warnings.warn(f"this model was made with {other}; its predictions may differ or fail (requirements.txt beside it lists the versions)", stacklevel=2)
    return model
