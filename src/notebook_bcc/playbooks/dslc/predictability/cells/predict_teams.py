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
team_of = {name: origin(name) for name in given_features}
for one, other in combinations(given_features, 2):
    if team_of[one] != team_of[other] and repeats(one, other):
        team_of = {name: team_of[one] if team == team_of[other] else team for name, team in team_of.items()}
teams = {}
for name, team in team_of.items():
    teams.setdefault(team, []).append(name)
teams = {" + ".join(dict.fromkeys(origin(name) for name in members)): members for members in teams.values()}
joint_columns = {team: members for team, members in teams.items() if len(members) > 1}
#% if lang == "zh"
print(f"{len(given_features)} 列分为 {len(teams)} 组")
#% else
print(f"{len(given_features)} columns in {len(teams)} groups")
#% endif
