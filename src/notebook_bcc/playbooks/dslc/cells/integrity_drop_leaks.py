dropped_columns |= {name: "leak" for name in leaks}
if set(candidate_columns) <= set(dropped_columns):
    can_model, cannot_because = False, "no features"
print(len(candidate_columns) - len(dropped_columns))
