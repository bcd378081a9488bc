# In any other program these lines are enough; `data` would be the path of a file with new rows.
import pickle

with open("model.pkl", "rb") as file:
    loaded = pickle.load(file)
new_rows = loaded.read(data).head()
loaded.predictions(new_rows)
