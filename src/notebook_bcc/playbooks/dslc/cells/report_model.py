import joblib
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

# It takes rows as they stand in the file: the preparation travels with the model.
#% if v.derived_columns is defined
steps = [("prepare", FunctionTransformer(prepare)), ("derive", FunctionTransformer(derive)), ("model", clone(model))]
#% else
steps = [("prepare", FunctionTransformer(prepare)), ("model", clone(model))]
#% endif
final_model = Pipeline(steps)
#% if v.task == "multilabel"
final_model.fit(raw.loc[df_clean.index], df_clean[targets])
#% else
final_model.fit(raw.loc[df_clean.index], df_clean[target])
#% endif
joblib.dump(final_model, "model.pkl", compress=3)

again = joblib.load("model.pkl")
some = raw.loc[df_clean.index[:100]]
assert (again.predict(some) == final_model.predict(some)).all()
#% if lang == "zh"
print(f"model.pkl 中的模型用 {len(df_clean):,} 行拟合；重新载入后预测相同")
#% else
print(f"model.pkl holds a model of {len(df_clean):,} rows; loaded again it predicts the same")
#% endif
