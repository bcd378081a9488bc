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
predictions.head()
