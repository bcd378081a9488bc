# Numeric features that say nearly the same: correlation of ranks above 0.9
def alike_groups(table):
    alike = table.rank().corr().abs().to_numpy() > 0.9
    groups, taken = [], set()
    for at in range(len(alike)):
        group, waiting = set(), [at]
        while waiting:
            each = waiting.pop()
            if each not in group and each not in taken:
                group.add(each)
                waiting += np.flatnonzero(alike[each]).tolist()
        taken |= group
        groups += [[str(table.columns[each]) for each in sorted(group)]] if len(group) > 1 else []
    return sorted(groups, key=len, reverse=True)


correlated_groups = alike_groups(look[numeric_columns[:300]].sample(min(len(look), 5_000), random_state=0))
# That the month and the day of one date go together is no news.
dates = [name for name, reason in dropped_columns.items() if reason == "in parts"]
source = {name: next((date for date in dates if name.startswith(f"{date}_")), name) for name in numeric_columns}
correlated_groups = [group for group in correlated_groups if len({source[name] for name in group}) > 1]
correlated_groups = [group[:20] for group in correlated_groups[:8]]
for group in correlated_groups:
    print(", ".join(group[:8]))
