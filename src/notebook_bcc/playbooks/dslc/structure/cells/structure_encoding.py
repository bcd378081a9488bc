def encoding_of(path):
    """The encoding of a text file and how many of its characters do not fit; all lines beyond ASCII are asked."""
    with open(path, "rb") as file:
        head = file.read(4096)
        file.seek(0)
        lines = b"".join(line for line in file if not line.isascii())
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16", 0
    if head.count(0) > len(head) / 5:
        return ("utf-16-le" if head[1::2].count(0) > head[0::2].count(0) else "utf-16-be"), 0
    letters = re.findall(r"[^\x00-\x7f]", lines.decode("utf-8", "replace"))
    wrong = letters.count("\ufffd")
    if wrong <= len(letters) / 10:
        return ("utf-8-sig" if head.startswith(b"\xef\xbb\xbf") else "utf-8"), wrong
    # Western accents stand alone among plain letters; the bytes of other scripts stand together.
    runs = re.findall(rb"[\x80-\xff]+", lines)
    if sum(map(len, runs)) < 1.6 * len(runs):
        return ("latin-1" if re.search(rb"[\x81\x8d\x8f\x90\x9d]", lines) else "cp1252"), 0
    # The first bytes of common Chinese characters lie in other ranges for simplified and traditional ones.
    found = {}
    for encoding, charset, common in [("gb18030", "gb2312", range(0xB0, 0xD8)), ("big5", "big5", range(0xA4, 0xC7))]:
        letters = re.findall(r"[^\x00-\x7f]", lines.decode(encoding, "replace"))
        first_bytes = "".join(letters).encode(charset, "ignore")[::2]
        wrong = letters.count("\ufffd")
        if wrong < len(letters) / 50:
            found[encoding] = sum(byte in common or byte in (0xA1, 0xA3) for byte in first_bytes) / len(letters), wrong
    best = max(found, key=found.get, default="")
    if best and found[best][0] > 0.5:
        return best, found[best][1]
    return ("latin-1" if b"\x98" in lines else "cp1251"), 0


#% for table, facts in [["file_facts", v.file_facts], ["test_facts", v.test_facts | default({"format": ""})]]
#% if facts.format == "text" and not facts.plain
{{ table | name }}["encoding"], {{ table | name }}["wrong_characters"] = encoding_of({{ facts.file }})
#% endif
#% endfor
