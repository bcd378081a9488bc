from itertools import combinations

#% if v.numeric_columns is sequence
numbers = X[numeric_columns]
#% else
numbers = X[numeric_columns[:40]]
#% endif
positive = [name for name in numbers if numbers[name].min() >= 0 and numbers[name].nunique() > 20]

# Columns that grow together: their ratio may say what neither says alone. One year divided by another says nothing.
ratio_pairs = []
sizes = [name for name in positive if not (numbers[name].dropna() % 1 == 0).all() or not numbers[name].dropna().between(1500, 2200).all()]
if 2 <= len(sizes) <= 40:
    together = numbers[sizes].sample(min(len(X), 5000), random_state=0).corr("spearman").round(6)
    close = [(-together.loc[a, b], a, b) for a, b in combinations(sizes, 2) if 0.8 < together.loc[a, b] < 0.9999]
    ratio_pairs = [[a, b] for strength, a, b in sorted(close)[:10]]

# Amounts that are often zero, such as money spent on several things: their sum, and how many are zero.
amount_columns = [name for name in positive if (numbers[name] == 0).mean() > 0.3 and numbers[name].skew() > 1]
if len(amount_columns) < max(3, len(numeric_columns) / 3):
    amount_columns = []

# A place on the map: its neighbourhood matters more than either coordinate.
latitude = [name for name in numbers if str(name).lower() in ("lat", "latitude", "纬度") and numbers[name].abs().max() <= 90]
longitude = [name for name in numbers if str(name).lower() in ("lon", "lng", "long", "longitude", "经度") and numbers[name].abs().max() <= 180]
place_columns = latitude[:1] + longitude[:1] if latitude and longitude else []
print(f"{len(ratio_pairs)} ratios, {len(amount_columns)} amounts, place: {place_columns or 'none'}")
