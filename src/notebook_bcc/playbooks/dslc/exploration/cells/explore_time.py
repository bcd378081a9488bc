#% set zh = lang == "zh" and v.cjk_font
# The course over time, in about a hundred steps at most
def moments(times):
    if times.dtype.kind != "M":
        return pd.cut(times, 50, labels=False)
    days = (times.max() - times.min()).days
    return times.dt.to_period("D" if days <= 100 else "W" if days <= 700 else "M" if days <= 3000 else "Q").dt.start_time


#% if v.task == "regression"
course = train.groupby(moments(train[{{ v.time_column }}]))[target].quantile([0.5, 0.1, 0.9]).unstack()
#% elif v.task == "binary" or v.task == "multiclass"
course = pd.crosstab(moments(train[{{ v.time_column }}]), train[target].astype(str), normalize="index").iloc[:, -6:]
#% elif v.task == "multilabel"
course = train.groupby(moments(train[{{ v.time_column }}]))[target_names[:6]].mean()
#% else
course = train.groupby(moments(train[{{ v.time_column }}])).size().to_frame("rows")
#% endif
quarter = -(-len(course) // 4)
time_change = [float(course.iloc[:quarter, 0].mean()), float(course.iloc[-quarter:, 0].mean())]
fig, ax = plt.subplots(figsize=(9, 4))
#% if v.task == "regression"
ax.plot(course.index, course[0.5], color="tab:blue")
ax.fill_between(course.index, course[0.1], course[0.9], alpha=0.2, linewidth=0)
ax.set_ylabel(label_of(target))
ax.set_title({{ "目标随时间的变化（中位数与 10% 到 90% 的范围）" if zh else "The target over time: median, and the middle 80 % of the rows" }})
#% else
for name in course.columns:
    ax.plot(course.index, course[name], label=label_of(name, 20))
ax.legend(frameon=False)
ax.set_title({{ "随时间的变化" if zh else "The course over time" }})
#% endif
ax.set_xlabel(label_of({{ v.time_column }}))
fig.savefig("figures/14_time.png", dpi=150, bbox_inches="tight")
plt.show()
#% if v.labels_numbered | default(false)
explain_labels()
#% endif
