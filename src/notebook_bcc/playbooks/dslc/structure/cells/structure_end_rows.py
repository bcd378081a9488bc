readable = can_model = False
#% if v.row_count == 0 or v.column_count == 0
problem = {{ "文件中没有数据行。" if lang == "zh" else "The file has no rows of data." }}
#% else
problem = {{ "测试文件中没有数据行。" if lang == "zh" else "The test file has no rows of data." }}
#% endif
print(problem)
