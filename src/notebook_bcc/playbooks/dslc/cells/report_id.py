test_row_count = len(raw_test)
names_rows = [name for name, reason in dropped_columns.items() if reason == "identifier" and name in raw_test]
id_column = next((name for name in names_rows if raw_test[name].is_unique), "")
print(f"{test_row_count:,} rows to predict; they are named by {id_column!r}" if id_column else f"{test_row_count:,} rows to predict")
