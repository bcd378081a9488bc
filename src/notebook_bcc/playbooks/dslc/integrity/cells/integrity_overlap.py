# Rows of the test file that stand in the training file as well, identifiers left aside
new = prepare(raw_test)
test_rows = len(new)


def rows_in_common(table, other):
    # A number or a code of one word may be new in each file; a name would not be.
    codes = [name for name in other.columns if other[name].dtype.kind != "f" and other[name].is_unique]
    codes = [name for name in codes if not other[name].astype("string").str.contains(r"\S\s+\S").any()]
    names = [name for name in table.columns if name in other and name not in [*codes, *target_names]]
    marks = [pd.util.hash_pandas_object(each[names].astype("string"), index=False) for each in (table, other)]
    return int(marks[0].isin(marks[1]).sum()) if names else 0


test_overlap = rows_in_common(new, df_clean)
print({{ "测试文件中已在训练文件里的行：" if lang == "zh" else "rows of the test file that are known:" }}, test_overlap)
