#% if inputs.group is defined and inputs.group
group_column = {{ inputs.group }}
#% else
# Do several rows belong to one subject? Then a subject's rows must not stand on both sides of a split.
def is_person(name):
    return re.search(r"(?i)patient|subject|person|participant|病人|患者|被试|受试|受访", name)


def is_group(name):
    words = r"customer|client|user|group|household|family|account|device|session|id"
    return re.search(rf"(?i:(^|[^a-z])({words})([^a-z]|$))|[a-z](Id|ID)$|客户|用户|家庭|编号", name)


def groups_rows(name):
    column = df_clean[name]
    filled, levels = column.notna().sum(), column.nunique()
    if filled < 0.98 * len(df_clean) or levels < 20 or column.duplicated(keep=False).mean() < 0.1 or name == time_column:
        return False
    if not is_person(name) and filled / levels > 50 or column.dtype.kind == "f" and (column % 1 != 0).any():
        return False
    #% if "test" in inputs and not v.test_problem | default("")
    # Subjects of the test file that are known from training need no such care.
    return name in new and new[name].isin(column).mean() < 0.05
    #% else
    return True
    #% endif


# A code for each row may begin with the number of its group: 0003_01, 0003_02.
subjects = [f"{name}_1" for name in code_parts if df_clean[name].is_unique and f"{name}_1" in df_clean]
subjects += [name for name in candidate_columns if is_person(name) or is_group(name)]
group_column = next((name for name in subjects if groups_rows(name)), "")
#% endif
group_given = group_column in raw.columns
group_count = int(df_clean[group_column].nunique()) if group_column else 0
group_rows = round(len(df_clean) / group_count, 2) if group_count else 0
print({{ "分组列：" if lang == "zh" else "column of subjects:" }}, group_column or {{ "无" if lang == "zh" else "none" }})
