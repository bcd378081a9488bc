# Can anything be learnt and tested at all?
cannot_because = ""
if target_rows == 0:
    cannot_because = "target missing"
elif target_rows < 20:
    cannot_because = "too few rows"
elif target_levels == 1:
    cannot_because = "constant target"
#% if v.target_names | length > 1
elif task == "none":
    cannot_because = "several targets"
#% else
elif answers.dtype.kind == "M":
    cannot_because = "target is a date"
elif target in long_texts or (not target_numeric and target_levels > 0.5 * target_rows):
    cannot_because = "target is an identifier"
elif target_whole and answers.is_unique and (answers.max() - answers.min() < 1.5 * target_rows or is_id(target)):
    cannot_because = "target is an identifier"
elif task == "regression" and not target_numeric:
    cannot_because = "target is not a number"
elif task != "regression" and sum(count >= 4 for count in class_counts.values()) < 2:
    cannot_because = "too few rows in a class"
#% endif
elif set(candidate_columns) <= set(dropped_columns):
    cannot_because = "no features"
can_model = not cannot_because
print({{ "可以建模" if lang == "zh" else "a model can be built" }} if can_model else cannot_because)
