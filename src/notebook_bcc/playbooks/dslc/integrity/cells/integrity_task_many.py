# Several targets: each a yes or no of its own?
answers = df_clean[target_names].dropna()
target_rows = len(answers)
yes_no = all(answers[name].dtype.kind in "iufb" and set(answers[name].unique()) <= {0, 1} for name in target_names)
task, task_source = ("multilabel", "values") if yes_no else ("none", "values")
class_counts = {name: int(answers[name].sum()) for name in target_names} if yes_no else {}
target_levels = int(answers.nunique().max())
