# Which columns name subjects with several rows?
def is_person(name):
    return re.search(r"(?i)patient|subject|person|participant|病人|患者|被试|受试|受访", name)


def is_group(name):
    words = r"customer|client|user|group|household|family|account|device|session|id"
    return re.search(rf"(?i:(^|[^a-z])({words})([^a-z]|$))|[a-z](Id|ID)$|客户|用户|家庭|编号", name)


def is_place(name):
    return re.search(r"(?i)zip|postal|postcode|plz|邮编|区号", name)


def groups_rows(name):
    column = df_clean[name]
    filled, levels = column.notna().sum(), column.nunique()
    if filled < 0.98 * len(df_clean) or levels < 20 or column.duplicated(keep=False).mean() < 0.1 or name in (time_column, panel_column):
        return False
    if not is_person(name) and filled / levels > 50 or column.dtype.kind == "f" and (column % 1 != 0).any():
        return False
    #% if "test" in inputs and not v.test_problem | default("")
    # Subjects of the test file that are known from training need no such care.
    return name in new and new[name].isin(column).mean() < 0.05
    #% else
    return True
    #% endif


def tells_apart(name):
    """Whether values that look like plain numbers or codes name subjects: each has its own features and its own level of the target."""
    column = df_clean[name]
    if is_place(name) or name in time_parts or not len(df_clean) / 50 <= column.nunique() <= len(df_clean) / 1.5 or not groups_rows(name):
        return False
    others = [other for other in own_columns if other != name and df_clean[other].nunique() > 1]
    fixed = [other for other in others if df_clean.groupby(name)[other].nunique(dropna=False).max() == 1]
    if not fixed or course is None:
        return False
    means = course.groupby(column).agg(["mean", "count"]).sort_index()
    # What neighbouring numbers share is a trend, as along an age: only jumps from one number to the next count.
    smooth = means["mean"].rolling(5, center=True, min_periods=1).mean()
    between = float(((means["mean"] - smooth) ** 2 * means["count"]).sum() / (0.8 * len(means)))
    within = float(course.groupby(column).var().mean())
    return between > 3 * within
