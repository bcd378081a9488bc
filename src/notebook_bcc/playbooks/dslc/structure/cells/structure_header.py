def holds_names(first, body):
    """Whether a first row holds names: above columns of numbers it is text, above others it is no value of theirs."""
    if len(first) > 1 and not first[0].strip() and all(name.strip() for name in first[1:]):
        return True
#% if "target" in inputs
    if {{ inputs.target }}.strip() in map(str.strip, first):
        return True
#% endif
    columns = list(zip(first, *[row + [""] * (len(first) - len(row)) for row in body[: max(5, 100_000 // len(first))]]))
    counts = [(name, sum(bool(NUMBER(cell)) for cell in cells), sum(map(bool, cells))) for name, *cells in columns]
    numeric = [name for name, numbers, filled in counts if numbers > 0.8 * filled]
    if not body or numeric:
        names = [name.strip() for name in (numeric if body else first) if name.strip()]
        years = names == [str(int(names[0]) + i) for i in range(len(names))] if "".join(names).isdecimal() else False
        return (years and len(names) > 3) or not all(map(NUMBER, names))
    return sum(name in cells for name, *cells in columns) <= len(columns) / 2


def find_header(rows, width):
    """The record where the table begins, whether it holds names, the names, and the number of columns."""
    rows = [(record, row) for record, row in enumerate(rows) if any(map(str.strip, row))] or [(0, rows[0])]
    notes = [i for i, (_, row) in enumerate(rows) if row[0].startswith(("#", "%", "//"))]
    start = next((i for i in range(len(rows)) if i not in notes[:100]), 0)
    if start and any(map(NUMBER, rows[start][1])) and len(rows[start - 1][1]) == width:
        start -= 1  # the last comment names the columns
        rows[start][1][0] = rows[start][1][0].lstrip("#%/ ")
    filled = [sum(bool(cell.strip()) for cell in row) for _, row in rows]
    at = next((i for i in range(start, len(rows)) if len(rows[i][1]) == width and filled[i] > max(filled) / 2), start)
    above = rows[at - 1][1] if at > start else []
    if width > 1 and sum(map(bool, above)) > width / 2 and any(map(NUMBER, rows[at][1])) and not any(map(NUMBER, above)):
        at -= 1  # a row of names that is longer or shorter than the rows below it
    first, body = rows[at][1], [row for _, row in rows[at + 1 :]]
    named = holds_names(first, body)
    if len(first) < width and all(row[-1].strip() == "" for row in body if len(row) == width):
        width -= 1  # a separator at the end of every row
    elif len(first) == width - 1:
        first = ["row_name", *first]
    width = max(width, len(first)) if any(map(str.strip, first[width:])) else width
    names = (first + [""] * width)[:width] if named else [""] * width
    return rows[at][0], named, names, width
