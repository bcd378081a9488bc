# Labels that cannot be drawn get a number in figures; the line below a figure says what it stands for.
label_numbers, label_key = {}, {}


def label_of(value, most=40):
    """A name or value as a label of a figure, or its number: of the column in the table, or of the value in order."""
    text = " ".join(str(value)[:most].split())
    if drawable.issuperset(map(ord, text)):
        return text.replace("$", r"\$")
    if value in column_names:
        number = f"column {column_names.index(value) + 1}"
    else:
        number = f"label {label_numbers.setdefault(str(value), len(label_numbers) + 1)}"
    label_key[number] = str(value)
    return number


def explain_labels():
    """Say what the numbers in the figure stand for."""
    if label_key:
        print("; ".join(f"{number}: {name}" for number, name in label_key.items()))
    label_key.clear()
