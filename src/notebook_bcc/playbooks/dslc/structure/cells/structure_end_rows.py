readable = can_model = False
problem = {{ "文件中没有数据行。" if lang == "zh" else "The file has no rows of data." }}
print(problem)
