dropped_columns |= {name: "leak" for name in leaks}
if set(candidate_columns) <= set(dropped_columns):
    can_model, cannot_because = False, "no features"
print({{ "剩余可用的列：" if lang == "zh" else "columns left to use:" }}, len(candidate_columns) - len(dropped_columns))
