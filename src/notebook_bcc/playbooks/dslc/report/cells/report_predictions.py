predictions = final_model.predictions(raw_test)
predictions.to_csv("predictions.csv", index=False)
#% if v.task in ["binary", "multiclass"]
chances = pd.DataFrame(final_model.predict_proba(raw_test).round(6), columns=final_model.classes_, index=raw_test.index)
probabilities = pd.concat([predictions[{{ [v.id_column] if v.id_column else [] }}], chances], axis=1)
probabilities.to_csv("probabilities.csv", index=False)
#% endif
prediction_count = len(predictions)
# The rows set aside have agreed with the model by some luck, and so will these rows.
reach = 1.96 * holdout_se * float(np.sqrt(1 + holdout_rows / prediction_count))
#% if v.higher_is_better
expected_low, expected_high = max(0.0, holdout_score - reach), min(1.0, holdout_score + reach)
#% else
expected_low, expected_high = max(0.0, holdout_score - reach), holdout_score + reach
#% endif
predictions.head()
