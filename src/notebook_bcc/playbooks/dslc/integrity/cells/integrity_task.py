# What kind of question is it? The values of the target decide.
answers = df_clean[target].dropna()
target_rows, target_levels = len(answers), int(answers.nunique())
target_numeric = answers.dtype.kind in "iufb"
target_whole = bool(target_numeric and (answers % 1 == 0).all())
target_to_whole = bool(target_rows and target_whole and answers.dtype.kind == "f")
if target_to_whole:
    answers = answers.astype("int64")
counts = answers.value_counts().sort_index()


def one_peak(counts):
    """Scores and counts get rarer away from their peak; codes for classes need not."""
    peak = int(counts.to_numpy().argmax())
    if counts.iloc[[0, -1]].min() > 0.5 * counts.max():
        return False
    return counts.iloc[: peak + 1].is_monotonic_increasing and counts.iloc[peak:].is_monotonic_decreasing


target_ordered = bool(target_whole and target_levels > 6 and one_peak(counts))
# How often something happened: from 0 on, ever rarer, up to a few high values.
counted = counts.to_numpy()[counts.to_numpy().argmax() :] if target_rows else counts.to_numpy()
falling = bool(len(counted) > 2 and (np.diff(counted) <= 2 * np.sqrt(counted[:-1])).all() and counted[-1] < 0.1 * counted[0])
target_tail = bool(target_whole and target_levels > 4 and answers.min() == 0 and counts.idxmax() <= answers.max() / 3 and falling)
#% if inputs.kind is defined and inputs.kind == "regression"
task, task_source = "regression", "given"
#% elif inputs.kind is defined and inputs.kind == "classification"
task, task_source = "binary" if target_levels == 2 else "multiclass", "given"
#% elif "classif" in (goal | lower) or "分类" in goal
task, task_source = "binary" if target_levels == 2 else "multiclass", "goal"
#% elif "regress" in (goal | lower) or "回归" in goal
task, task_source = "regression", "goal"
#% else
named_class = bool(re.search(r"(?i)class|type|label|categor|species|kind|cluster|digit|类|别|种", target))
few_levels = target_whole and not target_tail and (target_levels <= 6 or target_levels <= 10 and not target_ordered)
if target_levels == 2:
    task = "binary"
elif not target_numeric or few_levels or (named_class and target_whole and target_levels <= 30):
    task = "multiclass"
else:
    task = "regression"
task_source = "values"
#% endif
class_counts = {str(label): int(count) for label, count in counts.items()} if task != "regression" else {}
