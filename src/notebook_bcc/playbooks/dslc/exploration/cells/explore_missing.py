used = [*numeric_columns, *category_columns, *text_columns]
missing_share = look[used].isna().mean().sort_values(ascending=False, kind="stable")
missing_share = missing_share[missing_share > 0]
missing_features = len(missing_share)
top_missing = {str(name): round(float(share), 4) for name, share in missing_share.head(12).items()}
complete_rows = round(float(look[used].notna().all(axis=1).mean()), 4)
print({{ "有缺失的特征：" if lang == "zh" else "features with missing values:" }}, missing_features)
