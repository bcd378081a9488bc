# Features that say nearly the same: correlation of ranks
look[{{ v.correlated_groups | first }}].corr("spearman").round(2)
