chosen = {best_single: 1.0}
cv_score = cv_scores[best_single]
print(f"{metric} of {best_single} in cross-validation: {plain_number(cv_score)}")
