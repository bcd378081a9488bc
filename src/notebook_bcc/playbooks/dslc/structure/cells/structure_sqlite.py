import sqlite3
from contextlib import closing


def tables_of(path):
    """The tables of a database with their numbers of rows; none where it cannot be opened."""
    try:
        with closing(sqlite3.connect(path)) as database:
            names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            quoted = {name: name.replace('"', '""') for name in sorted(names)}
            return {name: database.execute(f'SELECT COUNT(*) FROM "{text}"').fetchone()[0] for name, text in quoted.items()}
    except sqlite3.DatabaseError:
        return {}


#% for facts_name, facts in [["file_facts", v.file_facts], ["test_facts", v.test_facts | default({"format": ""})]]
#% if facts.format == "sqlite"
tables = tables_of({{ facts.file }})
#% if "table" in inputs and facts_name == "file_facts"
chosen = {{ inputs.table }}
#% else
chosen = max(tables, key=tables.get, default="")
#% endif
{{ facts_name | name }} |= {"tables": dict(list(tables.items())[:30]), "table": chosen, "found": chosen in tables}
#% endif
#% endfor
