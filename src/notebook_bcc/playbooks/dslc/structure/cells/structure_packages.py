from importlib.util import find_spec


def missing_reader(facts):
    """The package that reads a file of this format, if it is not installed."""
    if facts["format"] == "excel":
        # The new format of Excel is a zip archive, the old one is not.
        package = "openpyxl" if zipfile.is_zipfile(facts["file"]) else "xlrd"
    else:
        package = "pyarrow" if facts["format"] in ("parquet", "feather") else ""
    return [package] if package and find_spec(package) is None else []


missing_packages = missing_reader(file_facts)
#% if "test" in inputs
test_packages = missing_reader(test_facts)
#% else
test_packages = []
#% endif
