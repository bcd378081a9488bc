#% set absent = {"format": ""}
def sheets_of(path):
    """The cells of every sheet as text; no sheets where the file cannot be opened."""
    try:
        sheets = pd.read_excel(path, sheet_name=None, header=None, dtype="str", keep_default_na=False)
    except (ValueError, KeyError, OSError, zipfile.BadZipFile):
        return {}
    return {name: sheet.fillna("").to_numpy().tolist() for name, sheet in sheets.items() if sheet.size}


#% for facts_name, facts, names in [["file_facts", v.file_facts, "column_names"], ["test_facts", v.test_facts | default(absent), "test_names"]]
#% if facts.format == "excel"
sheets = sheets_of({{ facts.file }})
#% if "sheet" in inputs and facts_name == "file_facts"
sheet = {{ inputs.sheet }}
#% else
sheet = max(sheets, key=lambda name: sum(cell != "" for row in sheets[name] for cell in row), default="")
#% endif
{{ facts_name | name }} |= {"sheets": list(sheets)[:30], "sheet": sheet, "found": sheet in sheets}
rows = sheets.get(sheet, [[""]])
begins, named, names, width = find_header(rows, len(rows[0]))
{{ names | name }} = clean_names(names)
#% if facts_name == "file_facts"
renamed = {new: old for new, old in zip(column_names, names) if named and new != old}
#% endif
markers = Counter(cell for row in rows[begins + 1 :] for cell in row if cell in MARKERS)
{{ facts_name | name }} |= {"begins": begins, "header": named, "width": width, "markers": dict(markers)}
#% endif
#% endfor
