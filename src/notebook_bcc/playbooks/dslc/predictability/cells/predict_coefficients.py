#% set zh = lang == "zh" and v.cjk_font
# The line has the greatest weight, so its coefficients tell: the change for one standard deviation of a column.
#% if v.metric == "log_rmse"
learnt = np.log(y)
#% else
learnt = y
#% endif
line = clone(candidates[{{ v.chosen | keys | first }}]).fit(X, learnt)
names = [name.partition("__")[2] for name in line[0].get_feature_names_out()]
whole = pd.Series(np.ravel(line[-1].coef_), index=names)


def coefficients(rows):
    fitted = clone(line).fit(X.iloc[rows], learnt.iloc[rows])
    kept = [name.partition("__")[2] for name in fitted[0].get_feature_names_out()]
    return pd.Series(np.ravel(fitted[-1].coef_), index=kept).groupby(level=0).sum()


# What varies when a fifth of the rows is left out tells how far to trust each of them.
left_out = pd.DataFrame([coefficients(fit) for fit, check in folds[:fold_count]]).fillna(0)
luck = np.sqrt((left_out.var(ddof=0)) * (fold_count - 1))
whole = whole.groupby(level=0).sum()
firm = whole[whole.abs() > 3 * luck.reindex(whole.index, fill_value=0)]
firm = firm[firm != 0].sort_values(key=abs, ascending=False).head(15)
coefficients_top = {name: float(f"{value:.4g}") for name, value in firm.head(5).items()}
if len(firm):
    fig, ax = plt.subplots(figsize=(7, 0.32 * len(firm) + 1.2), layout="constrained")
    ax.barh([label_of(name) for name in firm.index[::-1]], firm[::-1], xerr=1.96 * luck[firm.index[::-1]], ecolor="0.4")
    ax.set(xlabel={{ "一个标准差的影响" if zh else "effect of one standard deviation" }}, title={{ "线性模型的系数" if zh else "Coefficients of the line" }})
    fig.savefig("figures/31_importance.png", dpi=150, bbox_inches="tight")
    plt.show()
#% if v.labels_numbered | default(false)
explain_labels()
#% endif
