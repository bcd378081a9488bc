#% set plain_names = v.column_names is sequence
#% set code_names = v.file_codes is string or v.test_codes is string
#% set format = v.file_facts.format
#% set by_names = format == "excel" or (format == "text" and not v.file_facts.plain and not v.file_facts.names_fit)
# Everything that the model needs, as source
model_source = as_module(
    [
        *imports,
        "import pickle, platform, warnings, zlib",
        "from importlib.metadata import version",
        "from sklearn.base import BaseEstimator, clone",
        #% if v.file_facts.quoting | default(0)
        "import csv",
        #% endif
        #% if format == "json"
        "import json",
        "from pathlib import Path",
        #% endif
        #% if v.file_facts.arrow | default(false)
        "import pyarrow",
        #% endif
        #% if format == "sqlite"
        "import sqlite3",
        "from contextlib import closing",
        #% endif
    ],
    #% if v.column_names is string or code_names
    long_lists
    | {
        #% if v.column_names is string
        "column_names": column_names,
        #% endif
        #% if v.file_codes is defined and code_names
        "file_codes": file_codes,
        #% endif
        #% if v.test_codes is defined and code_names
        "test_codes": test_codes,
        #% endif
    },
    #% else
    long_lists,
    #% endif
    [
        *prepare_functions,
        #% if v.derived_columns is defined
        derive,
        #% endif
        #% if format in ["parquet", "feather", "sqlite", "json"] or (by_names and v.file_facts.header)
        clean_names,
        #% endif
        read_table,
        #% if by_names
        names_in,
        #% endif
        #% if v.grouped_numbers is defined and v.grouped_numbers
        with_numbers,
        #% endif
        plain_types,
        other_versions,
        restored,
        TableModel,
    ],
)
final_model = TableModel(
    clone(model),  # the recipe alone: what it has learnt from fewer rows is not kept twice
    features=given_features,
    #% if v.task == "multilabel"
    targets=targets,
    #% else
    targets=[target],
    #% endif
    identifiers=[name for name, reason in dropped_columns.items() if reason == "identifier"],
)
#% if v.task == "multilabel"
final_model.fit(raw.loc[df_clean.index], df_clean[targets])
#% else
final_model.fit(raw.loc[df_clean.index], df_clean[target])
#% endif
Path("model.pkl").write_bytes(pickle.dumps(final_model))
packages = [f"{name}=={number}" for name, number in final_model.versions_.items() if name != "python"]
#% if format in ["parquet", "feather"]
packages.append(f"pyarrow=={version('pyarrow')}")
#% elif format == "excel"
packages += [f"{name}=={version(name)}" for name in {{ ["openpyxl"] }}]
#% endif
#% if "lightgbm" in v.chosen | default([])
packages.append(f"lightgbm=={version('lightgbm')}")
#% endif
# The model does without it, the notebook and its script do not.
packages.append(f"matplotlib=={version('matplotlib')}")
lines = [f"# Python {final_model.versions_['python']}", *packages]
Path("requirements.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
#% if lang == "zh"
print(f"model.pkl 中的模型用 {len(df_clean):,} 行拟合")
#% else
print(f"model.pkl holds a model of {len(df_clean):,} rows")
#% endif
