from importlib.util import find_spec

#% if "excel" in v.formats
#% if "test" in inputs
books = [facts["file"] for facts in [file_facts, test_facts] if facts["format"] == "excel"]
#% else
books = [{{ v.file_facts.file }}]
#% endif
# The new format of Excel is a zip archive, the old one is not.
packages = {"openpyxl" if zipfile.is_zipfile(book) else "xlrd" for book in books}
#% else
packages = {"pyarrow"}
#% endif
missing_packages = sorted(package for package in packages if find_spec(package) is None)
