# Without rows to predict there is still a model to make.
#% if lang == "zh"
test_problem = {{ "测试文件 " ~ (inputs.test | file_name) ~ " 中没有数据行。" }}
#% else
test_problem = {{ "The test file " ~ (inputs.test | file_name) ~ " has no rows of data." }}
#% endif
print(test_problem)
