def words_of(text):
    """Small words without their plural, between spaces: SalePrices and sale_price are both ' sale price '."""
    words = re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).lower())
    return " " + " ".join(word.rstrip("s") or word for word in words) + " "


goal = {{ inputs.goal }}
verb = re.search(r"(?i)predict|forecast|estimat|classif|regress|预测|估计|估算|分类|判断", goal)
asks_prediction = verb is not None
wish = goal[verb.end() :] if verb else goal
wish = re.split(r"(?i)\b(?:from|using|based on|given)\b|根据|利用|通过", wish)[0].strip() or goal
named = [name for name in column_names if words_of(name) in words_of(wish) or (not name.isascii() and name in wish)]
if not named:
    # "price" is clear enough where only one column speaks of a price.
    words = {word for word in words_of(wish).split() if len(word) > 3}
    named = [name for name in column_names if words & set(words_of(name).split())][:100]
# Of "price" and "sale price" the longer one is meant.
goal_columns = [
    name for name in named if not any(name != other and words_of(name) in words_of(other) for other in named)
][:20]
print(goal_columns)
