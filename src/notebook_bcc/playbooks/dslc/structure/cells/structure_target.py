#% if "targets" in inputs and inputs.targets | length > 1
#% if v.wanted_columns is defined
targets = {{ v.wanted_columns | values | reject_in([""]) | unique }}
#% else
targets = {{ inputs.targets }}
#% endif
target_source = "given"
raw[targets].describe(include="all")
#% else
#% if v.wanted_columns is defined and v.wanted_columns[inputs.target] != ""
target, target_source = {{ v.wanted_columns[inputs.target] }}, "given"
#% elif v.wanted_columns is defined
target, target_source = {{ inputs.target_column }}, "given"
#% elif "target" in inputs
target, target_source = {{ inputs.target }}, "given"
#% else
target, target_source = {{ asked.targets | first }}, "goal"
#% endif
target_missing, target_distinct = int(raw[target].isna().sum()), int(raw[target].nunique())
raw[target].describe()
#% endif
