# The rarer class is hardly among the rows to learn from: nothing can be learnt about it.
can_model, cannot_because = False, "one class to learn from"
train, holdout, split_kind = pd.concat([train, holdout], ignore_index=True), holdout.iloc[:0], "none"
train_rows, holdout_rows = len(train), 0
