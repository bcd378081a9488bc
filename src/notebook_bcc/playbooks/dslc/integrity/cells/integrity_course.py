from scipy.stats import f_oneway


# Does the target change along an order of the rows? A number that only names rows tells nothing of it.
def target_number():
    """The target as a number; of classes, whether it is the most frequent one. Nothing without a single target."""
    if len(target_names) != 1:
        return None
    answers = df_clean[target_names[0]]
    if answers.dtype.kind in "iuf" and answers.nunique() > 2:
        return answers.astype(float)
    return (answers == answers.mode().get(0)).astype(float).where(answers.notna())


def follows_target(order, answers):
    """The chance that the target differs so much between stretches of rows, put into this order."""
    if answers is None:
        return 1.0
    both = pd.DataFrame({"order": order, "answer": answers}).dropna().sort_values("order", kind="stable")["answer"]
    few_levels = both.nunique() <= 20 and (both != both.shift()).sum() < 3 * both.nunique()
    # Numbers in the order of the file tell nothing where the file was sorted by the target.
    sorted_file = order.is_monotonic_increasing and (both.is_monotonic_increasing or both.is_monotonic_decreasing)
    if len(both) < 20 or both.nunique() < 2 or few_levels or sorted_file:
        return 1.0
    blocks = np.array_split(both.to_numpy(), min(40, max(3, len(both) // 15)))
    return float(f_oneway(*blocks).pvalue)


def sorted_by():
    """Categories that the rows were sorted by: their means are taken from the target before its course is looked at."""
    small = [name for name in word_columns if name in df_clean and 1 < df_clean[name].nunique() <= len(df_clean) / 10]
    return [name for name in small if (df_clean[name] != df_clean[name].shift()).sum() < 2 * df_clean[name].nunique()]


course = target_number()
if course is not None:
    for name in sorted_by():
        course = course - course.groupby(df_clean[name]).transform("mean")
