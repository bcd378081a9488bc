#% set absent = {"format": ""}
#% set modules = {"gzip": "gzip", "bzip2": "bz2", "xz": "lzma"}
#% for kind in v.formats
#% if kind in modules
import {{ modules[kind] | name }}
#% endif
#% endfor
import shutil
import zlib

Path("unpacked").mkdir(exist_ok=True)


def unpack(packed_file, opened, name):
    """Writes what an archive holds to a file of its own, and says what it is."""
    path = Path("unpacked", Path(name).name)
    try:
        with opened() as packed, path.open("wb") as plain:
            shutil.copyfileobj(packed, plain)
    except (OSError, EOFError, RuntimeError, ValueError, zlib.error, zipfile.BadZipFile):
        return {"file": packed_file, "plain": False, "format": "damaged"}
    name = path.as_posix()
    return {"file": name, "plain": False, "format": format_of(path), "misnamed": path.suffix in PACKED}


#% for facts_name, prefix, facts in [["file_facts", "data_", v.file_facts], ["test_facts", "test_", v.test_facts | default(absent)]]
#% if facts.format == "zip"
archive = zipfile.ZipFile({{ facts.file }})
members = [member for member in archive.infolist() if not member.is_dir() and "__MACOSX" not in member.filename]
largest = max(members, key=lambda member: member.file_size)
{{ facts_name | name }} = unpack({{ facts.file }}, lambda: archive.open(largest), {{ prefix }} + Path(largest.filename).name)
{{ facts_name | name }} |= {"packed": {{ facts.file }}, "packing": "zip", "member": largest.filename}
#% elif facts.format in modules
name = {{ prefix }} + Path({{ facts.file }}).stem
{{ facts_name | name }} = unpack({{ facts.file }}, lambda: {{ modules[facts.format] | name }}.open({{ facts.file }}), name)
{{ facts_name | name }} |= {"packed": {{ facts.file }}, "packing": {{ modules[facts.format] }}}
#% endif
#% endfor
#% if "test" in inputs
formats = sorted({facts["format"] for facts in [file_facts, test_facts] if not facts["plain"]})
#% else
formats = [file_facts["format"]]
#% endif
