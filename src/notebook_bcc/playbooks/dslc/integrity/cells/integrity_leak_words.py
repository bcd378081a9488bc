# Nearly the target, or named after what comes later
def suspicious(name):
    """Whether the column is nearly the target: the same order of nearly all rows, or nearly all of them told apart."""
    #% if v.task == "regression"
    return related[name] > 0.9995 and len(few) >= 60
    #% else
    label = labels.where(few[name].notna())
    few_levels = few[name].nunique() <= max(20, 2 * label.nunique())
    if few_levels and len(few) >= 60:
        right = label.groupby(few[name]).agg(lambda rows: rows.value_counts().max()).sum()
        return right >= 0.995 * len(few) > label.value_counts().max()
    return single_scores[name] > 0.998 and len(few) >= 300
    #% endif


def said_afterwards(name):
    """The word in a column's name that speaks of the end of what is predicted, or of the time after it."""
    words = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
    if re.search(r"(^|[^a-z])(previous|prev|prior|past|last|lag|before|expected|planned|scheduled|estimated)|上次|上期|上月|之前|预计|计划", words):
        return ""
    ends = r"duration|elapsed|(clos|cancel|terminat|resol|complet|discharg|settl|recover|refund|repaid|reimburs|return|deliver|collect)\w*"
    after = r"reasons?|cause|outcome|results?|final|actual|after\w*|post|follow_?up|next|future|tomorrow|later|subsequent|exit|death|died|verdict|penalty|feedback|payout"
    chinese = r"时长|历时|耗时|原因|退款|赔付|理赔|结案|结束|关闭|完成|注销|离职|出院|死亡|结果|最终|实际|事后|之后|后续|下期|下月|未来|回访|判决|签收|退货"
    found = re.search(rf"(?<![a-z])({ends}|{after})(?![a-z])|{chinese}", words)
    return found.group() if found else ""
