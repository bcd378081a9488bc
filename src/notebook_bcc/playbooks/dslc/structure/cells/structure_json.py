import json


def read_json(path):
    """How the table of a JSON or JSON-lines file is laid out, and where it lies in it."""
    text, place = Path(path).read_bytes(), {"lines": False}
    try:
        content = json.loads(text)
    except ValueError:
        try:
            content, place = [json.loads(line) for line in text.splitlines() if line.strip()], {"lines": True}
        except ValueError:
            return {"layout": "broken"}
    if isinstance(content, dict):
        tables = {key: value for key, value in content.items() if isinstance(value, list) and value and isinstance(value[0], dict)}
        shapes = {(type(value), len(value)) for value in content.values() if isinstance(value, (list, dict))}
        if tables:
            place["key"] = max(tables, key=lambda key: len(tables[key]))
            content = tables[place["key"]]
        elif len(shapes) == 1 and all(isinstance(value, (list, dict)) for value in content.values()):
            return place | {"layout": "columns"}
        else:
            content = [content]
    if content and all(isinstance(row, dict) for row in content):
        return place | {"layout": "records"}
    if content and all(isinstance(row, list) for row in content):
        named = all(isinstance(name, str) for name in content[0]) and len(content[0]) == max(map(len, content))
        return place | {"layout": "rows" if named else "values"}
    return place | {"layout": "values" if content else "empty"}


#% set absent = {"format": ""}
#% for kind, facts in [["file", v.file_facts], ["test", v.test_facts | default(absent)]]
#% if facts.format == "json"
{{ (kind ~ "_facts") | name }} |= read_json({{ facts.file }})
#% endif
#% endfor
