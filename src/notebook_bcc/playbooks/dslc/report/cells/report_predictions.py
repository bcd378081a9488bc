predictions = final_model.predictions(raw_test)
predictions.to_csv("predictions.csv", index=False)
#% if v.task in ["binary", "multiclass"]
chances = pd.DataFrame(final_model.predict_proba(raw_test).round(6), columns=final_model.classes_, index=raw_test.index)
probabilities = pd.concat([predictions[{{ [v.id_column] if v.id_column else [] }}], chances], axis=1)
probabilities.to_csv("probabilities.csv", index=False)
#% endif
prediction_count = len(predictions)
# The tested rows have agreed with the model by some luck, and so will these rows.
wider = float(np.sqrt(1 + {{ "holdout_rows" | name if v.task == "multilabel" else "tested_rows" | name }} / prediction_count))
#% if v.higher_is_better
expected_low, expected_high = max(0.0, estimate - wider * (estimate - estimate_low)), min(1.0, estimate + wider * (estimate_high - estimate))
#% else
expected_low, expected_high = (float(estimate * (limit / estimate) ** wider) for limit in (estimate_low, estimate_high))
#% endif
predictions.head()
