#% set target = inputs.target | default("")
def look(path):
    """What a plain file holds: UTF-8, commas, a row of names, rows of one length, usual numbers. Else: not plain."""
    rows, markers, row = 0, Counter(), []
    not_plain = {"file": path, "plain": False}, []
    if Path(path).is_dir():
        return not_plain
    step = 1 + Path(path).stat().st_size // 2_000_000
    try:
        with open(path, encoding="utf-8", newline="") as file:
            names, *first = islice(csv.reader(file), 200)
            if not has_plain_names(names, first) or Path(path).suffix in PACKED:
                return not_plain
            file.seek(0)
            for row in islice(csv.reader(file), 1, None):
                if len(row) != len(names) and row:
                    return not_plain
                rows += bool(row)
                if not MARKERS.isdisjoint(row):
                    markers.update(pair for pair in zip(names, row) if pair[1] in MARKERS)
                if rows % step == 0 and any(map(ODD_NUMBER, row)):
                    return not_plain
    except (ValueError, csv.Error):
        return not_plain
    unclosed = "\n" in "".join(row[-1:])
#% if target
    words = any(word.strip() == "-" or (name == {{ target }} and word.strip() in ("None", "none")) for name, word in markers)
#% else
    words = any(word.strip() == "-" for _, word in markers)
#% endif
    if not rows or unclosed or words:
        return not_plain
    counts = Counter()
    for (_, word), count in markers.items():
        counts[word] += count
    written = {"format": "text", "encoding": "utf-8", "separator": ",", "decimal": ".", "markers": dict(counts)}
    return {"file": path, "plain": True, "rows": rows, "width": len(names), **written}, names


file_facts, column_names = look({{ inputs.data }})
#% if "test" in inputs
test_facts, test_names = look({{ inputs.test }})
#% endif
