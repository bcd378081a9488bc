def misfit(row, facts, header):
    """What a row is that does not have the width of the table."""
    if row == header:
        return "repeated header"
    if len(row) > facts["width"]:
        return "too long" if any(map(str.strip, row[facts["width"] :])) else "padded"
    return "comment" if row[0].startswith(("#", "//")) else "too short"


def scan(facts):
    """Reads the whole file once: rows that do not fit, markers of missing values, every n-th row as a sample."""
    step = 1 + Path(facts["file"]).stat().st_size // 2_000_000
    header, rows, last, odd, markers, sample, row = None, 0, 0, [], Counter(), [], []
    for record, row in enumerate(records(facts)):
        if record < facts["begins"] or (record == facts["begins"] and facts["header"]):
            header = row
        elif len(row) < 2 and not "".join(row).strip():
            continue
        elif len(row) != facts["width"] or row == header:
            odd.append((record, misfit(row, facts, header), " ".join(row)[:80]))
        else:
            rows, last = rows + 1, record
            if not MARKERS.isdisjoint(row):
                markers.update((column, field) for column, field in enumerate(row) if field in MARKERS)
            if rows % step == 0:
                sample.append(row)
    tail = Path(facts["file"]).read_bytes()[-64:].rstrip(b"\r\n\t \x00")
    if facts["quoting"] == csv.QUOTE_MINIMAL and "\n" in "".join(row[-1:]) and not tail.endswith(b'"'):
        # A quote that is never closed swallows the end of the file; here quotes are plain characters.
        return scan(facts | {"quoting": csv.QUOTE_NONE})
    return facts | {"rows": rows}, last, odd, markers, sample


#% for table, facts in [["file", v.file_facts], ["test", v.test_facts | default({"format": ""})]]
#% if facts.format == "text" and not facts.plain
{{ (table ~ "_facts") | name }}["quoting"] = csv.QUOTE_MINIMAL
{{ (table ~ "_facts") | name }}, *{{ (table ~ "_scan") | name }} = scan({{ (table ~ "_facts") | name }})
#% endif
#% endfor
