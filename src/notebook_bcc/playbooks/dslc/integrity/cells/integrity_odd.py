# The columns with values that cannot be, or hardly
#% set odd = (v.missing_codes | keys + v.only_positive | keys + v.limits | keys + v.negative_values | keys + v.far_values | keys) | unique
parsed[{{ odd[:20] }}].describe(percentiles=[0.01, 0.5, 0.99]).T[["count", "min", "1%", "50%", "99%", "max"]]
