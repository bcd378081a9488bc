# What goes with the target, in all rows: the columns that tell most about it, each in a few groups of rows
from scipy.stats import chi2

#% if v.task == "regression"
outcomes = {"": df_clean[target].astype(float)}
#% else
class_names = df_clean[target].astype(str)
#% if v.task == "binary"
shown_classes = class_names.value_counts().index[-1:]
#% else
shown_classes = class_names.value_counts().index[:8]
#% endif
outcomes = {label: (class_names == label).astype(float) for label in shown_classes}
#% endif


def plain(number):
    """A number as people write it."""
    if abs(number) >= 1000:
        return f"{number:,.0f}" if abs(number) >= 10_000 else f"{number:.0f}"
    return f"{number:.3g}"


def weekday(number):
    """0 as Monday."""
    return {{ "周一 周二 周三 周四 周五 周六 周日" if lang == "zh" else "Monday Tuesday Wednesday Thursday Friday Saturday Sunday" }}.split()[int(number)]


def as_shown(mean):
    #% if v.task == "regression"
    return plain(float(f"{mean:.4g}"))
    #% else
    return f"{mean:.0%}" if mean == 0 or mean >= 0.01 else {{ "不到 1%" if lang == "zh" else "under 1%" }}
    #% endif


def groups_of(column):
    """The column in at most six groups, and the name of each: categories, single numbers or fifths of the rows."""
    written = weekday if str(column.name).endswith("_day_of_week") else plain
    if column.dtype.kind in "iuf" and column.nunique() > 6:
        groups = pd.qcut(column, 5, duplicates="drop")
        ends = column.groupby(groups, observed=True).agg(["min", "max"])
        return groups, {group: f"{written(low)} {{ "至" if lang == "zh" else "to" }} {written(high)}" if low != high else written(low) for group, low, high in ends.itertuples()}
    usual = column.value_counts().index[:6]
    return column.where(column.isin(usual)), {value: written(value) if column.dtype.kind in "iuf" else str(value)[:40] for value in usual}


def compared(name, outcome):
    """The mean of the outcome in each group, and how likely chance alone would make the groups differ as much."""
    groups, names = groups_of(df_clean[name])
    parts = outcome.groupby(groups, observed=True).agg(["mean", "std", "size"])
    parts = parts[parts["size"] >= max(20, 0.01 * len(df_clean))]
    if len(parts) < 2:
        return parts, 1.0
    left = outcome[groups.isin(parts.index)].var()
    middle = np.average(parts["mean"], weights=parts["size"])
    between = float((parts["size"] * (parts["mean"] - middle) ** 2).sum())
    chance = float(chi2.sf(between / left, len(parts) - 1)) if left else 1.0
    parts = parts if df_clean[name].dtype.kind in "iuf" else parts.sort_values("mean", ascending=False)
    return parts.rename(index=names), chance


findings, finding_rows, said = [], [], set()
#% set alike = v.correlated_groups | default([]) if v.correlated_groups is not string else []
#% if v.importance_top is mapping and v.importance_top | length > 0
# A date is told by that part of it which tells most.
named_by = [[part for part in association if part == name or part.startswith(f"{name}_")][:1] for name in importance_top]
likely = [*sum(named_by, []), *association]
#% else
likely = [*association]
#% endif
for name in dict.fromkeys(likely):
    label, (parts, chance) = min(((label, compared(name, outcome)) for label, outcome in outcomes.items()), key=lambda pair: pair[1][1])
    # Of many columns and groups some differ by chance: only what lies far beyond it is told, and once.
    if chance > 1e-5 or name in said or len(findings) == 3:
        continue
    rows = [[str(group), float(mean), int(size)] for group, mean, size in zip(parts.index, parts["mean"], parts["size"])]
    longest = max(abs(mean) for _, mean, _ in rows)
    in_order = df_clean[name].dtype.kind in "iuf" and len(rows) > 2
    findings.append({
        "column": name,
        "label": label,
        "way": "up" if in_order and parts["mean"].is_monotonic_increasing else "down" if in_order and parts["mean"].is_monotonic_decreasing else "",
        "high": [(group, as_shown(mean)) for group, mean, _ in sorted(rows, key=lambda row: -row[1])][0],
        "low": [(group, as_shown(mean)) for group, mean, _ in sorted(rows, key=lambda row: row[1])][0],
        "bars": [[group, max(mean / longest, 0.0), as_shown(mean)] for group, mean, _ in rows],
    })
    said.update([name], *(group for group in {{ alike }} if name in group))
    finding_rows += [[name, *row] for row in rows]
#% if lang == "zh"
pd.DataFrame(finding_rows, columns=["列", "组", {{ "目标的均值" if v.task == "regression" else "占比" }}, "行数"])
#% else
pd.DataFrame(finding_rows, columns=["column", "group", {{ "mean of the target" if v.task == "regression" else "share" }}, "rows"])
#% endif
