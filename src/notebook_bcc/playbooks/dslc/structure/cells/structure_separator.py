def records(facts):
    """Every record of the file as a list of fields."""
    with open(facts["file"], encoding=facts["encoding"], errors="replace", newline="") as file:
        if facts["separator"] == r"\s+":
            yield from (line.split() for line in file)
        else:
            spaced, quoting = facts.get("spaced", True), facts.get("quoting", csv.QUOTE_MINIMAL)
            yield from csv.reader(file, delimiter=facts["separator"], skipinitialspace=spaced, quoting=quoting)


def separator_of(facts):
    """The separator that cuts most rows into the same number of clean fields, and that number."""
    found = {}
    for separator in [",", ";", "\t", "|", r"\s+"]:
        rows = [row for row in islice(records(facts | {"separator": separator}), 300) if any(map(str.strip, row))]
        widths = Counter(len(row) for row in rows if len(row) > 1)
        if not widths:
            continue
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]))
        fields = [field for row in rows for field in row]
        clean = sum(not re.search(r"[;\t|]", field) for field in fields) / len(fields)
        score = count / len(rows) * clean * (1 if len(rows[0]) == width else 0.6)
        if separator == r"\s+":
            numbers = sum(bool(NUMBER(field)) for field in fields) / len(fields)
            score = score / 2 if count > 0.9 * len(rows) and numbers > 0.4 else 0
        found[separator] = score, width
    best = max(found, key=lambda separator: found[separator][0], default="")
    return (best, found[best][1]) if best and found[best][0] > 0.3 else ("\t", 1)


#% for table, facts in [["file_facts", v.file_facts], ["test_facts", v.test_facts | default({"format": ""})]]
#% if facts.format == "text" and not facts.plain
{{ table | name }}["separator"], {{ table | name }}["width"] = separator_of({{ table | name }})
#% endif
#% endfor
