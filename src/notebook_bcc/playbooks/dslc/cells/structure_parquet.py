import pyarrow.parquet


def is_whole(path):
    """Whether a Parquet file can be opened: its list of columns stands at its end."""
    try:
        pyarrow.parquet.read_schema(path)
    except (OSError, ValueError):
        return False
    return True


#% for facts_name, facts in [["file_facts", v.file_facts], ["test_facts", v.test_facts | default({"format": ""})]]
#% if facts.format == "parquet"
{{ facts_name | name }}["found"] = is_whole({{ facts.file }})
#% endif
#% endfor
