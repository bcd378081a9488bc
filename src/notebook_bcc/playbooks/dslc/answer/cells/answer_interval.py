#% set measure = asked.question.measures | first
# If the rows are taken for a sample of more such rows: where the value would lie in 95 of 100 samples.
#% if measure == "correlation"
width = 1.96 / np.sqrt(used_rows - 3)
centre = np.arctanh(np.clip(answer, -0.999999, 0.999999))
answer_low, answer_high = (float(np.tanh(end)) for end in (centre - width, centre + width))
#% elif measure == "share"
# Wilson's interval: it stays between 0 and 1, also for few rows.
z = 1.96
centre = (answer + z**2 / (2 * used_rows)) / (1 + z**2 / used_rows)
width = z * np.sqrt(answer * (1 - answer) / used_rows + z**2 / (4 * used_rows**2)) / (1 + z**2 / used_rows)
answer_low, answer_high = float(centre - width), float(centre + width)
#% else
width = 1.96 * rows[{{ asked.question.columns | first }}].std() / np.sqrt(used_rows)
answer_low, answer_high = float(answer - width), float(answer + width)
#% endif
#% if asked.question.where and measure == "mean"
answer_overall = {{ ("table" if v.is_repaired else "raw") | name }}[{{ asked.question.columns | first }}].mean().item()
#% endif
print(f"{answer_low:.6g} … {answer_high:.6g}")
