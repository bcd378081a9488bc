#% if v.word_columns
def to_words(text):
    """Empty text is missing."""
    return text.astype(object).where((text != "").fillna(False).to_numpy(dtype=bool), np.nan)
#% endif


#% if v.flag_texts
def to_flag(text):
    """1 for yes, 0 for no, missing for anything else."""
    words = dict.fromkeys(["yes", "y", "true", "t", "1", "1.0", "ja", "oui", "是"], 1.0)
    words |= dict.fromkeys(["no", "n", "false", "f", "0", "0.0", "nein", "non", "否"], 0.0)
    return text.str.lower().map(words).astype(float)
#% endif


#% if v.spellings
def to_usual_spelling(text, usual):
    """A category written with other capitals, blanks or hyphens is the same category."""
    key = text.str.lower().str.replace(r"[\s_\-]+", "", regex=True)
    return key.map(usual).astype("string").fillna(text)
#% endif


#% if v.code_parts
def word_at(text, mark, part):
    return to_words(text.str.split(mark, regex=False).str[part - 1].astype("string"))


def number_at(text, mark, part):
    return pd.to_numeric(word_at(text, mark, part), errors="coerce").astype(float)
#% endif


#% if v.lettered_codes
def letters_in(text):
    return to_words(text.str.upper().str.extract(r"^([^\W\d_]+)")[0])
#% endif


#% if v.lettered_codes or v.unit_numbers
def number_in(text, shape):
    return pd.to_numeric(text.str.extract(shape)[0], errors="coerce").astype(float)
#% endif
