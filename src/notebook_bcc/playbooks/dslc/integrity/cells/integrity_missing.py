# Which columns lack values in the same rows, and does a count of zero stand beside them?
def together(lacking):
    """Groups of columns that lack values in nearly the same rows."""
    alike, groups, taken = lacking.corr(), [], set()
    for name in lacking.columns:
        group = [str(other) for other in lacking.columns[(alike[name] > 0.9).to_numpy()] if other not in taken]
        taken |= set(group) if name not in taken and len(group) > 1 else set()
        groups += [group] if name in taken and name in group and len(group) > 1 else []
    return groups


def none_where_zero(lacking, zero):
    """Columns that are missing wherever a count is zero, and there otherwise: the value is "none", not unknown."""
    found = {}
    for name in [each for each in lacking.columns if each in word_columns and len(zero.columns)]:
        inside, outside = zero[lacking[name] == 1].mean(), zero[lacking[name] == 0].mean()
        fits = (inside - outside)[(inside > 0.97) & (outside < 0.05)]
        found |= {str(name): str(fits.idxmax())} if len(fits) else {}
    return found


few = parsed.sample(min(len(parsed), 5_000), random_state=0)
lacking = few[[name for name in holes.index[:200] if name not in target_names]].isna()
lacking = lacking.loc[:, lacking.any() & ~lacking.all()].astype(float)
missing_together = together(lacking)
zero = few.drop(columns=target_names).select_dtypes("number").iloc[:, :500] == 0
means_none = none_where_zero(lacking, zero.loc[:, zero.any()].astype(float))
