# Without rows to predict there is still a model to make.
#% if lang == "zh"
test_problem = {{ "测试文件 " ~ (inputs.test | file_name) ~ " 中没有可以读取的表。" }}
#% else
test_problem = {{ "The test file " ~ (inputs.test | file_name) ~ " holds no table that can be read." }}
#% endif
print(test_problem)
