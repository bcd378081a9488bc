from difflib import get_close_matches


def column_like(wanted):
    """The one column that is meant: by its name, else whatever its case, else whatever stands between its words."""
    for tidy in (str, lambda name: " ".join(name.split()).casefold(), lambda name: "".join(filter(str.isalnum, name.casefold()))):
        same = [name for name in column_names if tidy(name) == tidy(wanted) != ""]
        if same:
            return same[0] if len(same) == 1 else ""
    return ""


wanted_columns = {name: column_like(name) for name in {{ inputs.targets if "targets" in inputs else [inputs.target] }}}
begun_names = [name for name in column_names if name.casefold().startswith({{ inputs.target }}.strip().casefold())]
close_names = begun_names[:8] or get_close_matches({{ inputs.target }}, column_names, 8, 0.4) or column_names[:8]
#% if "test" in inputs
wanted_in_test = {{ inputs.target }} in test_names
#% endif
print(wanted_columns)
