#% set usual = ["", "#N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"]
#% set absent = {"format": ""}
#% set file_codes = v.file_codes | default([])
#% set test_codes = v.test_codes | default([])
#% set few = file_codes is sequence and test_codes is sequence and file_codes | length + test_codes | length <= 12
#% set test_facts = v.test_facts | default(absent)
#% if v.file_facts.quoting | default(0) or test_facts.quoting | default(0)
import csv

#% endif
#% if v.file_facts.format == "json" or test_facts.format == "json"
import json

#% endif
#% if v.file_facts.arrow | default(false) or test_facts.arrow | default(false)
import pyarrow

#% endif
#% if v.file_facts.format == "sqlite" or test_facts.format == "sqlite"
import sqlite3
from contextlib import closing

#% endif
#% for kind, table, reader, given, facts, names in [["file", "raw", "read_table", "data", v.file_facts, "column_names"], ["test", "raw_test", "read_test", "test", test_facts, "test_names"]]
#% set listed = v.column_names if kind == "file" else v.test_names | default([])
#% set skipped = v.file_skip | default([]) if kind == "file" else v.test_skip | default([])
#% set unusual = facts.markers | default({}) | keys | reject_in(usual)
#% set large = (facts.rows | default(0)) * (facts.width | default(0)) >= 500000
#% if facts.format == "text"
#% set own_names = facts.plain or facts.names_fit
#% if facts.left_out | default(0) and own_names
def {{ reader | name }}(path, skip={{ facts.begins }}):
#% elif facts.left_out | default(0)
def {{ reader | name }}(path, names={{ listed if listed is sequence else names | name }}, skip={{ facts.begins }}):
#% elif own_names
def {{ reader | name }}(path):
#% else
def {{ reader | name }}(path, names={{ listed if listed is sequence else names | name }}):
#% endif
    """The rows of a file that is written like this one."""
#% if facts.plain and not unusual and not large and few and not file_codes and not test_codes
    return pd.read_csv(path)
#% else
    return pd.read_csv(
        path,
#% if not facts.plain
#% if facts.misnamed
        compression=None,
#% endif
#% if facts.separator != ","
        sep={{ facts.separator }},
#% endif
#% if facts.encoding != "utf-8"
        encoding={{ facts.encoding }},
#% endif
#% if facts.wrong_characters
        encoding_errors="replace",
#% endif
#% if facts.decimal != "."
        decimal={{ facts.decimal }},
#% endif
#% if facts.spaced
        skipinitialspace=True,
#% endif
#% if facts.quoting
        quoting=csv.QUOTE_NONE,
#% endif
#% if facts.left_out
        skiprows=skip,
#% elif facts.begins
        skiprows={{ facts.begins }},
#% endif
#% if not facts.names_fit
        header={{ 0 if facts.header else None }},
        names=names,
        index_col=False,
        usecols=range(len(names)),
#% elif "padded" in facts.misfits
        index_col=False,
        usecols=range({{ facts.width }}),
#% endif
#% endif
#% if few and (file_codes or test_codes)
        dtype={
#% for name in (file_codes + test_codes) | unique
            {{ name }}: "str",
#% endfor
        },
#% elif not few and v.file_codes is defined and v.test_codes is defined
        dtype=dict.fromkeys([*file_codes, *test_codes], "str"),
#% elif not few
        dtype=dict.fromkeys({{ ("file_codes" if v.file_codes is defined else "test_codes") | name }}, "str"),
#% endif
#% if not facts.plain and facts.kept
        keep_default_na=False,
        na_values=dict.fromkeys({{ listed if listed is sequence else names | name }}, {{ [""] + facts.markers | keys }})
        | {
#% for name, words in facts.kept | items
            {{ name }}: {{ ([""] + facts.markers | keys) | reject_in(words) }},
#% endfor
        },
#% elif unusual
        na_values={{ unusual }},
#% endif
#% if large and (facts.plain or facts.separator != "\\s+")
        low_memory=False,
#% endif
    )
#% endif
#% elif facts.format == "excel"
def {{ reader | name }}(path, names={{ listed if listed is sequence else names | name }}):
    """The rows of a workbook that is laid out like this one."""
    table = pd.read_excel(
        path,
        sheet_name={{ facts.sheet }},
        header={{ facts.begins if facts.header else None }},
#% if not facts.header and facts.begins
        skiprows={{ facts.begins }},
#% endif
#% if facts.markers
        na_values={{ facts.markers | keys }},
#% endif
    )
    return table.set_axis(names if len(names) == table.shape[1] else table.columns.astype(str), axis=1)
#% elif facts.format == "parquet"
def {{ reader | name }}(path):
    """The rows of a Parquet file."""
    table = pd.read_parquet(path).reset_index(drop=True)
#% elif facts.format == "feather"
def {{ reader | name }}(path):
    """The rows of a Feather file."""
    table = pd.read_feather(path).reset_index(drop=True)
#% elif facts.format == "sqlite"
def {{ reader | name }}(path):
    """The rows of the table in a database that is laid out like this one."""
    with closing(sqlite3.connect(path)) as database:
        database.text_factory = lambda raw_bytes: raw_bytes.decode("utf-8", "replace")
        table_name = {{ facts.table }}.replace('"', '""')
        table = pd.read_sql_query(f'SELECT * FROM "{table_name}"', database)
#% elif facts.format == "json"
def {{ reader | name }}(path):
    """The rows of a JSON file that is laid out like this one."""
#% if facts.lines
    content = [json.loads(line) for line in Path(path).read_bytes().splitlines() if line.strip()]
#% elif "key" in facts
    content = json.loads(Path(path).read_bytes())[{{ facts.key }}]
#% else
    content = json.loads(Path(path).read_bytes())
#% endif
#% if facts.layout == "columns"
    table = pd.DataFrame(content).reset_index(drop=True)
#% elif facts.layout == "rows"
    table = pd.DataFrame(content[1:], columns=content[0])
#% elif facts.layout == "values"
    table = pd.DataFrame(content)
#% else
    table = pd.json_normalize(content, max_level=1)
#% endif
#% endif
#% if facts.arrow | default(false)
    for name, kind in table.dtypes.items():
        if isinstance(kind, pd.ArrowDtype):
            table[name] = pyarrow.array(table[name]).to_pandas()
#% endif
#% if facts.format in ["parquet", "feather"]
    half = table.columns[table.dtypes == np.float16]
    table[half] = table[half].astype(np.float32)  # half precision is for storage: few functions compute with it
#% endif
#% if facts.format in ["parquet", "feather", "json"]
    for name in table.columns[table.dtypes == object]:
        nested = table[name].map(lambda cell: isinstance(cell, (list, dict, np.ndarray)))
#% if facts.format == "json"
        table.loc[nested, name] = table.loc[nested, name].map(json.dumps)
#% else
        table.loc[nested, name] = table.loc[nested, name].map(str)
        binary = table[name].map(lambda cell: isinstance(cell, bytes))
        table.loc[binary, name] = table.loc[binary, name].map(lambda cell: cell.decode("utf-8", "backslashreplace"))
#% endif
#% endif
#% if facts.format in ["parquet", "feather", "sqlite", "json"]
    return table.set_axis(clean_names(table.columns), axis=1)
#% endif
#% if facts.format


#% endif
#% endfor
#% for kind, table, reader, given, facts, names in [["file", "raw", "read_table", "data", v.file_facts, "column_names"], ["test", "raw_test", "read_test", "test", test_facts, "test_names"]]
#% set skipped = v.file_skip | default([]) if kind == "file" else v.test_skip | default([])
#% if facts.format
#% if "packed" in facts
{{ table | name }} = {{ reader | name }}({{ facts.file }})
#% elif facts.left_out | default(0)
{{ table | name }} = {{ reader | name }}({{ given | name }}, skip={{ skipped if skipped is sequence else (kind ~ "_skip") | name }})
#% else
{{ table | name }} = {{ reader | name }}({{ given | name }})
#% endif
#% if facts.format in ["parquet", "feather", "sqlite", "json"]
{{ names | name }} = list({{ table | name }}.columns)
#% endif
#% endif
#% endfor
row_count, column_count = raw.shape
#% if test_facts.format
test_row_count = len(raw_test)
#% endif
raw.head()
