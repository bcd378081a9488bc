def left_out(facts, last, odd, *rest):
    """How many rows have which fault, the records that are no rows of the table, and the first of these as text."""
    short = [record for record, reason, _ in odd if reason == "too short"]
    end = [record for record in short if record > last]
    footer = end if len(end) <= 10 and len(short) - len(end) <= facts["rows"] / 100 else []
    odd = [(record, "footer" if record in footer else reason, text) for record, reason, text in odd]
    aside = [(record, text) for record, reason, text in odd if reason not in ("too short", "padded")]
    facts |= {"misfits": dict(Counter(reason for _, reason, _ in odd)), "left_out": len(aside)}
    skip = [*range(facts["begins"]), *(record for record, _ in aside)]
    return facts, skip, [f"{record + 1}: {text}" for record, text in aside[:5]]


#% if v.file_facts.format == "text" and not v.file_facts.plain
file_facts, file_skip, file_aside = left_out(file_facts, *file_scan)
#% endif
#% if "test" in inputs and v.test_facts.format == "text" and not v.test_facts.plain
test_facts, test_skip, test_aside = left_out(test_facts, *test_scan)
#% if not v.test_facts.header and v.file_facts.width == v.test_facts.width
test_names = column_names
#% elif not v.test_facts.header and v.file_facts.width == v.test_facts.width + 1 and "target" in inputs
test_names = [name for name in column_names if name != {{ inputs.target }}]
#% endif
#% endif
