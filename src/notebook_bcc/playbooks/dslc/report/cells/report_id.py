test_row_count = len(raw_test)
names_rows = [name for name in final_model.identifiers if name in raw_test and raw_test[name].is_unique]
id_column = names_rows[0] if names_rows else ""
#% if v.task == "multilabel"
test_answers = int(prepare(raw_test)[targets].notna().all(axis=1).sum()) if set(targets) <= set(raw_test) else 0
#% else
test_answers = int(prepare(raw_test)[target].notna().sum()) if target in raw_test else 0
#% endif
print(f"{test_row_count:,} rows to predict; they are named by {id_column!r}" if id_column else f"{test_row_count:,} rows to predict")
