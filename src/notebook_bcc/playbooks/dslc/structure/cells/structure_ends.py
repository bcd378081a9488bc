# What the texts about this table call it by: its first and its last column.
first_column, last_column = [str(raw.columns[at]) if column_count else "" for at in (0, -1)]
