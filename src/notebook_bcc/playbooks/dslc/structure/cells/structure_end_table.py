readable = can_model = False
#% if "layout" in v.file_facts and v.file_facts.layout in ["broken", "empty"]
problem = {{ "JSON 文件已损坏，或者其中没有记录。" if lang == "zh" else "The JSON file is broken or holds no records." }}
#% elif v.file_facts.format == "sqlite" and not v.file_facts.tables
problem = {{ "数据库无法打开，或者其中没有数据表。" if lang == "zh" else "The database cannot be opened or has no tables." }}
#% elif v.file_facts.format == "sqlite"
problem = {{ "数据库中没有数据表 " ~ v.file_facts.table ~ "。" if lang == "zh" else "The database has no table " ~ v.file_facts.table ~ "." }}
#% elif v.file_facts.format in ["parquet", "feather"] and not v.file_facts.found
problem = {{ "Parquet 或 Feather 文件已损坏，无法打开。" if lang == "zh" else "The Parquet or Feather file is damaged and cannot be opened." }}
#% elif "sheets" in v.file_facts and not v.file_facts.sheets
problem = {{ "工作簿无法打开，或者是空的。" if lang == "zh" else "The workbook cannot be opened or is empty." }}
#% else
problem = {{ "工作簿中没有工作表 " ~ v.file_facts.sheet ~ "。" if lang == "zh" else "The workbook has no sheet " ~ v.file_facts.sheet ~ "." }}
#% endif
print(problem)
