#% if v.id_column
predictions = raw_test[[{{ v.id_column }}]].copy()
#% else
predictions = pd.DataFrame({"row": np.arange(1, len(raw_test) + 1)})
#% endif
#% if v.task == "multilabel"
predictions[targets] = final_model.predict(raw_test)
#% else
predictions[{{ v.target }}] = final_model.predict(raw_test)
#% endif
#% if v.task == "binary"
positive = str(final_model.classes_[1])
predictions[f"probability of {positive}"] = final_model.predict_proba(raw_test)[:, 1].round(6)
#% endif
predictions.to_csv("predictions.csv", index=False)
prediction_count = len(predictions)
# The rows set aside have agreed with the model by some luck, and so will these rows.
reach = 1.96 * holdout_se * float(np.sqrt(1 + holdout_rows / prediction_count))
#% if v.higher_is_better
expected_low, expected_high = max(0.0, holdout_score - reach), min(1.0, holdout_score + reach)
#% else
expected_low, expected_high = max(0.0, holdout_score - reach), holdout_score + reach
#% endif
predictions.head()
