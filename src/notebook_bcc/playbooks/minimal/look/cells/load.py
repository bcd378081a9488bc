import pandas as pd

table = pd.read_csv({{ inputs.data }})
row_count = len(table)
column_names = [str(name) for name in table.columns]
numeric_columns = [str(name) for name in table.select_dtypes("number").columns]
missing = table.isna().sum()
missing_counts = {str(name): int(count) for name, count in missing[missing > 0].items()}
table.head()
