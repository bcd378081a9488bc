def writing_of(names, last, odd, markers, sample):
    """How values are written: codes that must stay text, the decimal sign, thousands, markers of missing values."""
    codes, commas, dots, grouped, kept = [], 0, 0, 0, {}
    for column, name in enumerate(names):
        cells = [cell for row in sample if (cell := row[column].strip()) and cell not in MARKERS]
        exact = sum(len(cell) > 15 or (cell[0] == "0" and len(cell) > 2) for cell in cells)
        if all(map(str.isdecimal, cells)) and exact > len(cells) / 100:
            codes.append(name)
        commas += sum(bool(re.fullmatch(r"[+-]?(\d+,(\d{1,2}|\d{4,})|0,\d+)", cell)) for cell in cells)
        dots += sum(bool(re.fullmatch(r"[+-]?(\d*\.(\d{1,2}|\d{4,})|0\.\d+)", cell)) for cell in cells)
        grouped += sum(bool(ODD_NUMBER(cell)) for cell in cells if not cell.isdecimal())
        own = {"-"} if "+" in cells else set()
#% if "target" in inputs
        if name == {{ inputs.target }} and not all(map(NUMBER, cells)):
            own |= {"None", "none", "nil", "-"}
#% endif
        own = sorted(word for word in own if (column, word) in markers)
        if own:
            kept[name] = own
    missing = Counter()
    for (column, word), count in markers.items():
        if word not in kept.get(names[column], []):
            missing[word] += count
    decimal = "," if commas > dots else "."
    written = {"decimal": decimal, "grouped": grouped > 0 or decimal == ",", "kept": kept}
    return codes, written | {"markers": dict(missing.most_common(30))}


#% if v.file_facts.format == "text" and not v.file_facts.plain
file_codes, written = writing_of(column_names, *file_scan)
file_facts |= written
#% endif
#% if "test" in inputs and v.test_facts.format == "text" and not v.test_facts.plain
test_codes, written = writing_of(test_names, *test_scan)
test_facts |= written
#% endif
