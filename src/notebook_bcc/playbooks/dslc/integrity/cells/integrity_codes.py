def parts_inside(whole):
    """Mark and parts of codes such as A/12/X: which parts are numbers, which are words."""
    for mark in "/_|-:":
        counts = whole.str.count("[" + mark + "]")
        usual = int(counts.mode().iloc[0])
        if not usual or (counts == usual).mean() < 0.95:
            continue
        pieces = {part: whole[counts == usual].str.split(mark).str[part - 1] for part in range(1, usual + 2)}
        levels = {part: piece.nunique() for part, piece in pieces.items() if piece.nunique() > 1}
        # Where every row has its own code, the parts tell something only if one of them has few values.
        if levels and (whole.nunique() < 0.9 * len(whole) or min(levels.values()) <= 50):
            numbers = [part for part in levels if pieces[part].str.fullmatch(r"\d+").mean() > 0.95]
            return {"mark": mark, "numbers": numbers, "words": [part for part in levels if part not in numbers]}
    return None


def units_inside(values):
    """Words that follow a number in many rows, such as HP in "300.0HP 3.7L V6"; in 12A and 3p21 they are parts of a name."""
    if values.str.fullmatch(r"\d+(?:\.\d+)?[\s-]*[^\W\d_]+").mean() > 0.9 and values.str.extract(r"(?<![^\W\d_])([^\W\d_]+)$")[0].nunique() > 1:
        return []
    units = values.str.extractall(r"(?<![^\W_])(\d+(?:\.\d+)?)[\s-]*([^\W\d_]+)(?!\d)").reset_index(names=["row", "at"])
    often = units.groupby(units[1].str.lower()).agg(rows=("row", "nunique"), levels=(0, "nunique"))
    often = often[(often["rows"] > 0.1 * len(values)) & (often["levels"] > 2)]
    return [str(unit) for unit in often.nlargest(4, "rows").index]
