#% set facts = v.file_facts
#% set said = {"empty": "is empty.", "binary": "is no table: its bytes are neither text nor a known format.", "markup": "is a web page or XML, not a table.", "damaged": "is an archive that is damaged or locked."}
#% set said_zh = {"empty": "是空文件。", "binary": "不是表格：内容既不是文本，也不是已知的格式。", "markup": "是网页或 XML，不是表格。", "damaged": "是损坏或加密的压缩包。"}
readable = can_model = False
#% if lang == "zh"
problem = {{ "文件 " ~ (facts.file | file_name) ~ " " ~ (said_zh[facts.format] if facts.format in said_zh else "是压缩包中的压缩包。") }}
#% else
problem = {{ "The file " ~ (facts.file | file_name) ~ " " ~ (said[facts.format] if facts.format in said else "is an archive inside an archive.") }}
#% endif
print(problem)
