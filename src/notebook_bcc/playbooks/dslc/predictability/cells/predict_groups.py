from itertools import combinations


def origin(name):
    """The column of the file that this one was read from."""
    return name if name in raw.columns else max((str(one) for one in raw.columns if name.startswith(f"{one}_")), key=len, default=name)


def repeats(one, other):
    """Whether two columns say nearly the same: the same order of numbers, or the same classes by other names."""
    pair = looked[[one, other]]
    if all(kind.kind in "iuf" for kind in pair.dtypes):
        return abs(pair.rank().corr().iloc[0, 1]) > 0.95
    levels = pair.nunique(dropna=False)
    return levels.min() > 1 and len(pair.drop_duplicates()) == levels.min() == levels.max() < len(pair) / 5


# Columns that say the same belong together: the parts of one date or code, and columns that repeat one another.
looked = train[given_features].sample(min(len(train), 1000), random_state=0)
group_of = {name: origin(name) for name in given_features}
for one, other in combinations(given_features, 2):
    if group_of[one] != group_of[other] and repeats(one, other):
        group_of = {name: group_of[one] if group == group_of[other] else group for name, group in group_of.items()}
column_groups = {}
for name, group in group_of.items():
    column_groups.setdefault(group, []).append(name)
column_groups = {" + ".join(dict.fromkeys(origin(name) for name in members)): members for members in column_groups.values()}
joint_columns = {group: members for group, members in column_groups.items() if len(members) > 1}
#% if lang == "zh"
print(f"{len(given_features)} 列分为 {len(column_groups)} 组")
#% else
print(f"{len(given_features)} columns in {len(column_groups)} groups")
#% endif
