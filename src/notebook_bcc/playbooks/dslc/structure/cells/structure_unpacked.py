#% set absent = {"format": ""}
#% set test_facts = v.test_facts | default(absent)
#% for packing in ["bz2", "gzip", "lzma"]
#% if v.file_facts.packing | default("") == packing or test_facts.packing | default("") == packing
import {{ packing | name }}
#% endif
#% endfor
import shutil
#% if v.file_facts.packing | default("") == "zip" or test_facts.packing | default("") == "zip"
import zipfile
#% endif

Path("unpacked").mkdir(exist_ok=True)
#% for given, facts in [["data", v.file_facts], ["test", test_facts]]
#% if "packed" in facts
#% if facts.packing == "zip"
with zipfile.ZipFile({{ given | name }}).open({{ facts.member }}) as packed, open({{ facts.file }}, "wb") as plain:
#% else
with {{ facts.packing | name }}.open({{ given | name }}) as packed, open({{ facts.file }}, "wb") as plain:
#% endif
    shutil.copyfileobj(packed, plain)
#% endif
#% endfor
