def usual_spellings(counts):
    """Each spelling without capitals, blanks and hyphens, and the one to use: the most frequent."""
    usual = {}
    for spelling, key in zip(counts.index, counts.index.str.lower().str.replace(r"[\s_\-]+", "", regex=True)):
        usual.setdefault(str(key), str(spelling))
    for short in [key for key in usual if len(key) == 1]:
        longer = [key for key in usual if len(key) > 1 and key.startswith(short)]
        if len(longer) == 1 and len(usual) <= 6:  # m and male, f and female
            usual[short] = usual[longer[0]]
    return usual


for name in [each for each in word_columns if each not in code_parts and each not in lettered_codes]:
    counts = raw[name].dropna().astype("string").str.strip().value_counts()
    if 1 < len(counts) <= 60 and len(set(usual_spellings(counts).values())) < len(counts):
        spellings[name] = usual_spellings(counts)
one_of = {name: ", ".join(sorted(set(usual.values())))[:80] for name, usual in spellings.items()}
pd.Series(one_of).to_frame({{ "统一为" if lang == "zh" else "one of" }}) if one_of else None
