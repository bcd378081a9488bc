# The files of this notebook. Another file of the same kind can take their place.
data = {{ inputs.data }}
#% if "test" in inputs
test = {{ inputs.test }}
#% endif
