def derive(table):
    """Columns made from others, row by row."""
    out = table.copy()
    #% if v.ratio_pairs | length > 0
    for above, below in {{ v.ratio_pairs }}:
        out[f"{above} / {below}"] = out[above] / out[below].where(out[below] != 0)
    #% endif
    #% if v.amount_columns | length > 0
    amounts = out[{{ v.amount_columns }}]
    out["sum of amounts"] = amounts.sum(axis=1)
    out["amounts at zero"] = (amounts == 0).sum(axis=1).astype(float)
    #% endif
    #% if v.place_columns | length > 0
    north, east = out[{{ v.place_columns | first }}], out[{{ v.place_columns | last }}]
    out["north-east"], out["north-west"] = north + east, north - east
    out["cell of 0.1 degrees"] = north.round(1).astype(str) + " " + east.round(1).astype(str)
    out["cell of 0.2 degrees"] = (north * 5).round().astype(str) + " " + (east * 5).round().astype(str)
    #% endif
    return out
