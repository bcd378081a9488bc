def clean_names(names):
    """Names without needless spaces; an empty one becomes its position, a repeated one gets a number."""
    cleaned, taken, copies = [], set(), {}
    for position, name in enumerate(names, 1):
        name = unique = " ".join(str(name).replace("\ufeff", "").split()) or f"column_{position}"
        while unique in taken:
            copies[name] = copies.get(name, 1) + 1
            unique = f"{name}_{copies[name]}"
        taken.add(unique)
        cleaned.append(unique)
    return cleaned
