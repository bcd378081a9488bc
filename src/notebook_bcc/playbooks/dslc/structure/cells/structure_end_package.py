readable = can_model = False
#% if lang == "zh"
problem = {{ "读取这个文件需要先安装 " ~ (v.missing_packages | join("、")) ~ "。" }}
#% else
problem = {{ "Reading this file needs a package that is not installed: " ~ (v.missing_packages | join(", ")) ~ "." }}
#% endif
print(problem)
