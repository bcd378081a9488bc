"""The OpenAPI document as one HTML page: no script, nothing from elsewhere, readable offline."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any

# Any: the document is JSON.
Json = dict[str, Any]

SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_REF = "#/components/schemas/"
_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.5rem; font-size: 1.2rem; }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .8rem; border: 1px solid #8886; border-radius: 6px; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
td, th { text-align: left; vertical-align: top; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid #8884; }
summary { cursor: pointer; margin: .4rem 0; }
.method { display: inline-block; min-width: 3.5rem; font-weight: 700; }
.old { opacity: .6; }
"""


def page(document: Json) -> str:
    """The whole page."""
    info = document["info"]
    body = "\n".join(
        [
            f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>",
            f"<p>{_text(info['description'])}</p>",
            "<p>The same for programs: <a href='openapi.json'>openapi.json</a></p>",
            *_contents(document),
            *(part for path, operations in document["paths"].items() for part in _path(path, operations)),
            "<h2 id='schemas'>Messages</h2>",
            *(_schema(name, schema) for name, schema in document["components"]["schemas"].items()),
        ]
    )
    title = escape(info["title"])
    head = f"<meta charset='utf-8'><meta name='viewport' content='width=device-width'><title>{title}</title>"
    return (
        f"<!doctype html>\n<html lang='en'><head>{head}<style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _contents(document: Json) -> Iterator[str]:
    yield "<ul>"
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            link = f"<a href='#{operation['operationId']}'><code>{method.upper()} {escape(path)}</code></a>"
            yield f"<li>{link} {_text(operation['summary'])}</li>"
    yield "<li><a href='#schemas'>Messages</a></li></ul>"


def _path(path: str, operations: Json) -> Iterator[str]:
    for method, operation in operations.items():
        name = operation["operationId"]
        yield f"<h2 id='{name}'><span class='method'>{method.upper()}</span> <code>{escape(path)}</code></h2>"
        yield f"<p>{_text(operation['summary'])}</p>"
        if "parameters" in operation:
            fields = ", ".join(f"<code>{escape(each['name'])}</code>" for each in operation["parameters"])
            yield f"<p>In the query: {fields}</p>"
        if "requestBody" in operation:
            yield from _content("Request", operation["requestBody"]["content"])
        yield from _content("Answer", operation["responses"]["200"].get("content", {}))
        yield "<details><summary>Other statuses</summary><table>"
        for status, response in operation["responses"].items():
            if status != "200":
                yield f"<tr><td>{status}</td><td>{_text(response['description'])}</td></tr>"
        yield "</table></details>"


def _content(title: str, content: Json) -> Iterator[str]:
    for kind, form in content.items():
        names = ", ".join(dict.fromkeys(_references(form["schema"])))
        text = f": {_text(form['schema']['description'])}" if "description" in form["schema"] else ""
        yield f"<p><b>{title}</b> <code>{escape(kind)}</code> {names}{text}</p>"
        for name, example in form.get("examples", {}).items():
            shown = escape(json.dumps(example["value"], indent=2, ensure_ascii=False))
            yield f"<details><summary>Example: {escape(name)}</summary><pre>{shown}</pre></details>"


def _schema(name: str, schema: Json) -> str:
    rows = "".join(_row(field, form, schema) for field, form in schema.get("properties", {}).items())
    rows = rows or f"<tr><td>{_form(schema)}</td></tr>"
    text = f"<p>{_text(schema['description'])}</p>" if "description" in schema else ""
    title = f"<summary><code>{escape(name)}</code></summary>"
    return f"<details id='{escape(name)}'>{title}{text}<table>{rows}</table></details>"


def _row(field: str, form: Any, schema: Json) -> str:  # Any: a schema may also be true
    described = form if isinstance(form, dict) else {}
    wanted = " (required)" if field in schema.get("required", ()) else ""
    kind = " class='old'" if described.get("deprecated") else ""
    text = _text(described.get("description", ""))
    return f"<tr{kind}><td><code>{escape(field)}</code>{wanted}</td><td>{_form(described)}</td><td>{text}</td></tr>"


def _form(schema: Json) -> str:
    """What a value looks like, in a few words."""
    if names := list(dict.fromkeys(_references(schema))):
        return ("list of " if schema.get("type") == "array" else "") + " or ".join(names)
    if "enum" in schema or "const" in schema:
        return ", ".join(f"<code>{escape(str(each))}</code>" for each in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_form(each) for each in schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {_form(schema.get('items', {}))}"
    kind = schema.get("type", "anything")
    return escape(" or ".join(kind) if isinstance(kind, list) else str(kind))


def _references(schema: Any) -> Iterator[str]:  # Any: JSON
    """Links to the schemas this one names, not to those within them."""
    if isinstance(schema, dict):
        if isinstance(reference := schema.get("$ref"), str):
            name = escape(reference.removeprefix(_REF))
            yield f"<a href='#{name}'>{name}</a>"
        for part in ("anyOf", "oneOf", "items"):
            yield from _references(schema.get(part))
    elif isinstance(schema, list):
        for each in schema:
            yield from _references(each)


def _text(text: str) -> str:
    """Text with its `code` marked."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))
