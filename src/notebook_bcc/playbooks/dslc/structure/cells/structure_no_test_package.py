# Without rows to predict there is still a model to make.
#% if lang == "zh"
test_problem = {{ "读取测试文件 " ~ (inputs.test | file_name) ~ " 需要先安装 " ~ (v.test_packages | join("、")) ~ "。" }}
#% else
test_problem = {{ "Reading the test file " ~ (inputs.test | file_name) ~ " needs a package that is not installed: " ~ (v.test_packages | join(", ")) ~ "." }}
#% endif
print(test_problem)
