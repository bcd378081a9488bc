import pyarrow.dataset


def is_whole(path, form):
    """Whether all of a Parquet or Feather file, or of a folder of them, can be read."""
    try:
        for _ in pyarrow.dataset.dataset(path, format=form).to_batches():
            pass
    except (OSError, ValueError):
        return False
    return True


def has_arrow_columns(path, form):
    """Whether pandas would give columns of Arrow's own types, which many functions cannot compute with."""
    known = pyarrow.dataset.dataset(path, format=form).schema.metadata or {}
    return b"[pyarrow]" in known.get(b"pandas", b"")


#% for facts_name, facts in [["file_facts", v.file_facts], ["test_facts", v.test_facts | default({"format": ""})]]
#% if facts.format in ["parquet", "feather"]
{{ facts_name | name }}["found"] = is_whole({{ facts.file }}, {{ facts.format }})
if {{ facts_name | name }}["found"]:
    {{ facts_name | name }}["arrow"] = has_arrow_columns({{ facts.file }}, {{ facts.format }})
#% endif
#% endfor
