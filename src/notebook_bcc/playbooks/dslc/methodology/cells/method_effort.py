#% set n = v.train_rows
#% set folds = 5 if n <= 20000 else 3
#% set repeats = 3 if n < 200 else 2 if n < 400 else 1
# How much work this table is worth: folds, repeats of them, and threads. All later cells go by it.
#% if v.split_kind == "time"
fold_count, repeat_count = 4, 1
#% elif v.task == "binary" and v.smallest_count < folds
fold_count, repeat_count = {{ v.smallest_count }}, {{ repeats }}  # as many folds as the rarer class has rows
#% elif v.task == "multiclass" and v.largest_count < folds
fold_count, repeat_count = {{ v.largest_count }}, {{ repeats }}
#% elif repeats > 1
# Where rows are few, one division into folds is a matter of luck: the chosen model is tried on others too.
fold_count, repeat_count = {{ folds }}, {{ repeats }}
#% else
fold_count, repeat_count = {{ folds }}, 1
#% endif
#% if n <= 20000
from threadpoolctl import threadpool_limits

# On a table of this size two threads wait for each other longer than they work.
threads = threadpool_limits(1)
#% endif
