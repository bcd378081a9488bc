# Without columns to predict from there is still a model to make.
test_problem = {{ "测试文件 " ~ (inputs.test | file_name) ~ " 没有任何可用于预测的列。" if lang == "zh" else "The test file " ~ (inputs.test | file_name) ~ " has none of the columns that a model would need." }}
print(test_problem)
