# The test file holds the target: how good were the predictions?
#% if v.task == "multilabel"
truth_known = prepare(raw_test)[targets].dropna()
test_truth = truth_known.astype("int64")
test_guess = predictions.loc[truth_known.index, targets]
#% else
truth_known = prepare(raw_test)[target].dropna()
test_truth = truth_known.astype(y.dtype)
#% if v.metric == "roc_auc"
test_guess = probabilities.loc[truth_known.index, final_model.classes_[1]]
#% else
test_guess = predictions.loc[truth_known.index, target]
#% endif
#% endif
#% if v.metric == "roc_auc"
test_score = round(score(test_truth, test_guess), 6) if test_truth.nunique() == 2 else None
print("one class only" if test_score is None else f"{metric} on {len(test_truth):,} rows of the test file: {test_score:.5g}")
#% else
test_score = round(score(test_truth, test_guess), 6)
print(f"{metric} on {len(test_truth):,} rows of the test file: {test_score:.5g}")
#% endif
