import json


def read_json(path):
    """What a JSON or JSON-lines file holds, and how its table is laid out."""
    text = Path(path).read_bytes()
    try:
        content = json.loads(text)
    except ValueError:
        try:
            content = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            return [], "broken"
    if isinstance(content, dict):
        tables = [value for value in content.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
        shapes = {(type(value), len(value)) for value in content.values() if isinstance(value, (list, dict))}
        if tables:
            content = max(tables, key=len)
        elif len(shapes) == 1 and all(isinstance(value, (list, dict)) for value in content.values()):
            return content, "columns"
        else:
            content = [content]
    if content and all(isinstance(row, dict) for row in content):
        return content, "records"
    if content and all(isinstance(row, list) for row in content):
        named = all(isinstance(name, str) for name in content[0]) and len(content[0]) == max(map(len, content))
        return content, "rows" if named else "values"
    return content, "values" if content else "empty"


#% set absent = {"format": ""}
#% for kind, facts in [["file", v.file_facts], ["test", v.test_facts | default(absent)]]
#% if facts.format == "json"
{{ (kind ~ "_content") | name }}, {{ (kind ~ "_facts") | name }}["layout"] = read_json({{ facts.file }})
#% endif
#% endfor
