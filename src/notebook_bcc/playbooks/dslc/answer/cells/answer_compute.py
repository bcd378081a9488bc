#% set asks = asked.question
#% set measure = asks.measures | first
#% set column = asks.columns | first if asks.columns else ""
#% set group = asks.group if asks.group | length > 1 else (asks.group | first if asks.group else "")
#% if asks.group
import json

#% endif
question = {{ asked.understood }}
#% if measure == "share" and asks.event
matches = pd.Series(True, index=rows.index)
#% for one in asks.event
#% set value = one["values"] | first
#% if one.operator == "in" and one["values"] | length == 1 and value is not sameas true
matches &= rows[{{ one.column }}] == {{ value }}
#% elif one.operator == "in"
matches &= rows[{{ one.column }}].isin({{ one["values"] }})
#% elif one.operator == "not in"
matches &= rows[{{ one.column }}].notna() & ~rows[{{ one.column }}].isin({{ one["values"] }})
#% elif one.operator == "between"
matches &= rows[{{ one.column }}].between({{ value }}, {{ one["values"] | last }})
#% elif one.operator == ">"
matches &= rows[{{ one.column }}] > {{ value }}
#% elif one.operator == ">="
matches &= rows[{{ one.column }}] >= {{ value }}
#% elif one.operator == "<"
matches &= rows[{{ one.column }}] < {{ value }}
#% else
matches &= rows[{{ one.column }}] <= {{ value }}
#% endif
#% endfor
#% endif
#% if asks.group
#% if measure == "count"
by_group = rows.groupby({{ group }}).size()
#% elif measure == "share" and asks.event
by_group = matches.groupby([rows[name] for name in {{ asks.group }}]).mean()
#% elif measure == "share"
by_group = rows.groupby({{ group }}).size() / len(rows)
#% elif measure == "missing"
by_group = rows[{{ column }}].isna().groupby([rows[name] for name in {{ asks.group }}]).sum()
#% elif measure == "distinct"
by_group = rows.groupby({{ group }})[{{ column }}].nunique()
#% elif asks.measures | length > 1
by_group = rows.groupby({{ group }})[{{ column }}].agg({{ asks.measures }}).stack()
#% else
by_group = rows.groupby({{ group }})[{{ column }}].{{ measure | name }}().dropna()
#% endif
#% if asks.top
by_group = by_group.{{ ("nlargest" if asks.order == "highest" else "nsmallest") | name }}({{ asks.top }}, keep="all")
#% endif
answer = {
    " / ".join(map(str, name)) if isinstance(name, tuple) else str(name): value for name, value in by_group.to_dict().items()
}
answer_count = len(answer)
first_answers = answer if answer_count <= 30 else dict(sorted(answer.items(), key=lambda item: -item[1])[:10])
plain_labels = "".join([question, *first_answers]).isascii()
if answer_count > 30:
    # More than a text shows: the whole answer is a file beside the notebook.
    Path("values").mkdir(exist_ok=True)
    Path("values/answer.json").write_text(json.dumps(answer, ensure_ascii=False), encoding="utf-8")
by_group
#% elif asks.values_only
answer = rows[{{ column }}].{{ ("nlargest" if asks.order == "highest" else "nsmallest") | name }}({{ asks.top }}).tolist()
answer
#% elif measure == "count"
answer = len(rows)
answer
#% elif measure == "share"
answer = float(matches.mean())
answer
#% elif measure == "missing"
answer = int(rows[{{ column }}].isna().sum())
answer
#% elif measure == "distinct"
answer = int(rows[{{ column }}].nunique())
answer
#% elif measure == "correlation"
answer = float(rows[{{ asks.columns | first }}].corr(rows[{{ asks.columns | last }}]))
answer
#% elif asks.measures | length > 1
answer = rows[{{ column }}].agg({{ asks.measures }}).to_dict()
answer
#% elif asks.columns | length > 1
answer = rows[{{ asks.columns }}].{{ measure | name }}().to_dict()
answer
#% else
answer = rows[{{ column }}].{{ measure | name }}().item()
answer
#% endif
