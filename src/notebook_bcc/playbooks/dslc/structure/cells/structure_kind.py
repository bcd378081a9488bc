import zipfile

SIGNATURES = {
    b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"PAR1": "parquet", b"ARROW1": "feather", b"FEA1": "feather",
    b"SQLite format 3\x00": "sqlite",
    b"\xd0\xcf\x11\xe0": "excel", b"\xff\xfe": "text", b"\xfe\xff": "text", b"%PDF": "binary", b"PK\x05\x06": "binary",
}


def format_of(path):
    """The kind of a file by its first bytes, because the ending of a name can be wrong. A folder holds Parquet files."""
    if Path(path).is_dir():
        return "parquet"
    with open(path, "rb") as file:
        head = file.read(65_536)
    for start, kind in SIGNATURES.items():
        if head.startswith(start):
            return kind
    if head.startswith(b"PK\x03\x04"):
        if not zipfile.is_zipfile(path):
            return "binary"
        inside = {name for name in zipfile.ZipFile(path).namelist() if not name.endswith("/") and "__MACOSX" not in name}
        return "excel" if "xl/workbook.xml" in inside else "zip" if inside - {"content.xml"} == inside != set() else "binary"
    if not head.strip(b"\xef\xbb\xbf\x00\r\n\t ,;|"):
        return "empty"
    zeros = sorted([head[0::2].count(0), head[1::2].count(0)])
    utf_16 = zeros[1] > len(head) / 5 and zeros[0] < len(head) / 50  # every second byte of Latin text is zero
    if not utf_16 and len(re.findall(rb"[\x00-\x08\x0e-\x1f\x7f]", head)) > len(head) / 100:
        return "binary"
    if re.match(rb"(?i)(\xef\xbb\xbf)?\s*<(!doctype|html|\?xml)", head):
        return "markup"
    return "json" if re.match(rb'(\xef\xbb\xbf)?\s*(\{\s*["}]|\[\s*[\[{\]])', head) else "text"


#% for facts_name, facts in [["file_facts", v.file_facts], ["test_facts", v.test_facts | default({"plain": true})]]
#% if not facts.plain
{{ facts_name | name }}["format"] = format_of({{ facts.file }})
{{ facts_name | name }}["misnamed"] = Path({{ facts.file }}).suffix in PACKED
print({{ facts_name | name }})
#% endif
#% endfor
#% if "test" in inputs
formats = sorted({facts["format"] for facts in [file_facts, test_facts] if not facts["plain"]})
#% else
formats = [file_facts["format"]]
#% endif
