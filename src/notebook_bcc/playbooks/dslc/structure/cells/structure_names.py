#% for table, facts, names in [["file_facts", v.file_facts, "column_names"], ["test_facts", v.test_facts | default({"format": ""}), "test_names"]]
#% if facts.format == "text" and not facts.plain
rows = list(islice(records({{ table | name }} | {"spaced": False}), 300))
fields = [field for row in rows for field in row[1:] if field.strip()]
spaced = sum(field[0] == " " for field in fields) > len(fields) / 5 or any(field.startswith(' "') for field in fields)
rows = list(islice(records({{ table | name }} | {"spaced": spaced}), 300))
begins, named, names, width = find_header(rows, {{ facts.width }})
{{ names | name }} = clean_names(names)
{{ table | name }} |= {"begins": begins, "header": named, "width": width, "spaced": spaced}
{{ table | name }}["above"] = [" ".join(row)[:100] for row in rows[:begins] if any(row)][:3]
{{ table | name }}["names_fit"] = named and {{ names | name }} == rows[begins]
#% if table == "file_facts"
renamed = {new: old for new, old in zip(column_names, names) if named and new != old}
#% endif
#% endif
#% endfor
