#% if v.train_rows > 20000
# 20,000 rows, picked by chance, are enough to see what there is to see.
look = train.sample(20_000, random_state=0)
#% else
look = train
#% endif
explored_rows = len(look)
numbers = look[numeric_columns]
skew = numbers.loc[:, numbers.nunique() > 2].skew()
skewed_columns = [str(name) for name in skew.index[(skew.abs() > 2).to_numpy()]]
zeros = (numbers[skew.index] == 0).mean()
zero_shares = {str(name): round(float(share), 3) for name, share in zeros[zeros > 0.5].head(30).items()}
summary = numbers.iloc[:, :40].quantile([0, 0.05, 0.5, 0.95, 1]).T
summary.columns = {{ ["最小", "5%", "中位数", "95%", "最大"] if lang == "zh" else ["min", "5 %", "median", "95 %", "max"] }}
summary[{{ "偏度" if lang == "zh" else "skew" }}] = skew.round(1) + 0.0  # no -0
summary[{{ "缺失" if lang == "zh" else "missing" }}] = numbers.isna().mean().round(3)
summary
