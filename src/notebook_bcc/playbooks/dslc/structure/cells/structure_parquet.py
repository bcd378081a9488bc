import pyarrow.dataset


def is_whole(path, form):
    """Whether a Parquet or Feather file, or a folder of them, can be opened: the list of columns stands at the end."""
    try:
        pyarrow.dataset.dataset(path, format=form)
    except (OSError, ValueError):
        return False
    return True


#% for facts_name, facts in [["file_facts", v.file_facts], ["test_facts", v.test_facts | default({"format": ""})]]
#% if facts.format in ["parquet", "feather"]
{{ facts_name | name }}["found"] = is_whole({{ facts.file }}, {{ facts.format }})
#% endif
#% endfor
