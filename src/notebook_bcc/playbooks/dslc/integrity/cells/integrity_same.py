from scipy.stats import kstest


# Columns that only name rows, and columns that say what others say
def names_rows(name, column, filled, levels):
    """Whole numbers, nearly each its own: an identifier, unless they run on with time and the target with them."""
    in_a_row = levels == filled and column.max() - column.min() < 1.5 * filled
    if in_a_row or is_id(name) and levels > 0.95 * filled:
        # Rows may be missing from the count, such as those of a test file.
        if levels == filled and follows_target(column, course) < 1e-6:
            running_numbers.append(name)
            return None
        return "identifier"
    # Drawn evenly from numbers of many digits, and without any bearing on the target: tickets, accounts, telephones.
    even = kstest((column - column.min()) / (column.max() - column.min()), "uniform").pvalue > 0.001
    wide = filled >= 50 and column.max() - column.min() > 10 * filled and column.max() >= 10_000
    return "identifier" if wide and even and follows_target(column, course) > 0.001 else None


def mark(column):
    """The same for columns with the same values."""
    column = column.astype(float) if column.dtype.kind in "biuf" else column
    return hash(pd.util.hash_pandas_object(column, index=False).to_numpy().tobytes())


def pair_count(codes, others):
    return len(np.unique(codes * (others.max() + 1) + others))


def said_twice(names):
    """Columns of which each tells the other, such as codes beside names."""
    codes = {name: pd.factorize(df_clean[name], use_na_sentinel=False)[0] for name in names if df_clean[name].nunique() > 1}
    levels = {name: int(code.max()) + 1 for name, code in codes.items()}
    groups = []
    for name in [name for name in codes if levels[name] <= len(df_clean) / 4]:
        same = [group for group in groups if levels[group[0]] == levels[name] and pair_count(codes[group[0]], codes[name]) == levels[name]]
        same[0].append(name) if same else groups.append([name])
    return [group for group in groups if len(group) > 1]
