# Rows that are no observations: a line of totals says so in words and looks it, or holds the sums of the rows above it
def says_total(texts):
    words = r"(?i)^(grand |sub)?total\b.{0,12}$|^(sum|summe|gesamt|合计|总计|小计|总和)$"
    hits = texts.astype("string").apply(lambda column: column.str.strip().str.fullmatch(words).fillna(False))
    return np.flatnonzero(hits.to_numpy(dtype=bool).any(axis=1)).tolist()


def looks_total(row):
    """Whether a row lies above all others in half of its numbers, or lacks half of what the others hold."""
    others, own = cleaned.drop(index=cleaned.index[row]), cleaned.iloc[row]
    numbers = others.select_dtypes("number").columns
    numbers = [name for name in numbers if pd.notna(own[name])]
    above = [bool(abs(own[name]) > others[name].abs().max()) for name in numbers]
    usual = others.columns[(others.notna().mean() > 0.5).to_numpy()]
    return bool(above and np.mean(above) >= 0.5) or bool(own[usual].isna().mean() >= 0.5)


def sums_in_last_row(numbers):
    above, last = numbers.iloc[:-1], numbers.iloc[-1]
    is_sum = (above.sum() - last).abs() <= 1e-6 * above.sum().abs()
    is_sum &= ((above != 0) & above.notna()).sum() >= 3
    return [str(name) for name in numbers.columns[is_sum.to_numpy()]] if len(above) > 5 else []


total_rows = says_total(cleaned[word_columns[:50]])
# "Total" may also be the name of a company.
total_rows = [row for row in total_rows if looks_total(row)] if len(total_rows) <= 3 else []
summed_columns = sums_in_last_row(cleaned.select_dtypes("number").iloc[:, :200])
if summed_columns and len(summed_columns) >= 0.5 * cleaned.select_dtypes("number").iloc[-1].notna().sum():
    total_rows = sorted({*total_rows, len(cleaned) - 1})
total_values = [str(value) for value in raw.iloc[total_rows[0]].dropna()][:6] if total_rows else []
