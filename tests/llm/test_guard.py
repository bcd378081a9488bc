"""What a model's cell may do and what it may not, decided without running it."""

from __future__ import annotations

import pytest

from notebook_bcc.llm.guard.guard import Guardrails, lent_by, objection, with_made

DRAWN = 'fig, ax = plt.subplots()\nax.hist(train["size"])\nfig.savefig("figures/1.png")\nplt.show()'
RAILS = Guardrails(
    kept=frozenset({"df", "train", "holdout", "target", "columns", "model", "candidates", "pd", "np", "plt"}),
    readable=frozenset({"df", "train", "target", "columns", "model", "candidates", "pd", "np", "plt"}),
    known=frozenset({"df", "train", "holdout", "target", "columns", "model", "candidates", "pd", "np", "plt"}),
    lent=lent_by((DRAWN,)),
)

HARMFUL = [
    "df = df.dropna()",
    "del df",
    "target = 'other'",
    "df += 1",
    "for one in [df]:\n    one += [1]",
    "for target in columns:\n    print(target)",
    "with plt.rc_context() as df:\n    pass",
    "def train():\n    pass",
    "import math as target",
    "from math import pi as df",
    "(df := 3)",
    "[df := one for one in columns]",
    "def spoil():\n    global df\n    df = 1\nspoil()",
    "df['size'] = 0",
    "df.loc[0, 'size'] = 0",
    "df.loc[df.index[0]] = 0",
    "del df['size']",
    "df.columns = ['a']",
    "df['size'][0] = 0",
    "other = df\nother['size'] = 0",
    "other = df\nother += 1",
    "other = df['size']\nother *= 2",
    "first = df\nother = first\nother -= 1",
    "other = df if target else df\nother['size'] = 0",
    "a, b = df, 1\na['size'] = 0",
    "def spoil(table):\n    table['size'] = 0\nspoil(df)",
    "def same(table):\n    return table\nmine = same(df)\nmine['size'] = 0",
    "spoil = lambda table: table.pop('size')\nspoil(df)",
    "for one in [df]:\n    one['size'] = 0",
    "mine = [df]\nmine[0]['size'] = 0",
    "mine = candidates['a']\nmine.fit(train, target)",
    "mine = candidates.get('a')\nmine.fit(train, target)",
    "next(iter(candidates.values())).fit(train)",
    "for name, one in candidates.items():\n    one.fit(train)",
    "df.drop(columns='size', inplace=True)",
    "df.fillna(0, inplace=bool(1))",
    "df['size'].fillna(0, inplace=True)",
    "df.drop(columns='size', **{'inplace': True})",
    "pd.DataFrame.drop(df, columns='size', inplace=True)",
    "np.add(df, 1, out=df)",
    "df.pop('size')",
    "df.insert(0, 'a', 1)",
    "df.update(train)",
    "columns.append('a')",
    "columns.sort()",
    "model.fit(train, target)",
    "model.set_params(alpha=1)",
    "plt.rcParams.update({'a': 1})",
    "pd.options.display.width = 3",
    "import random\nrandom.shuffle(columns)",
    "list(map(df.pop, ['size']))",
    "spoil = df.update\nspoil(train)",
    "list.append(columns, 1)",
    "pd.DataFrame.insert(df, 0, 'a', 1)",
    "np.put(df, 0, 1)",
    "import operator\noperator.setitem(df, 'a', 1)",
    "import warnings\nwarnings.simplefilter('error')",
    "import warnings\nwarnings.filterwarnings('error')",
    "np.seterr(all='raise')",
    "pd.set_option('display.width', 3)",
    "from sklearn import set_config\nset_config(transform_output='pandas')",
    "import matplotlib\nmatplotlib.use('Agg')",
    "setattr(df, 'a', 1)",
    "getattr(df, 'po' + 'p')('size')",
    "globals()['df'] = 1",
    "exec('df = 1')",
    "df.__dict__",
    "().__class__.__bases__",
    "vars()['df'] = 1",
    "print(holdout.mean())",
    "print(unheard_of)",
    "open('prepare.py', 'w')",
    "df.to_csv('predictions.csv')",
    "df.to_pickle('x.pkl')",
    "np.save('x', df)",
    "pd.read_csv('train.csv')",
    "plt.savefig('figures/2.png')",
    "plt.savefig(f'figures/{target}.png')",
    "import os",
    "import subprocess as sp",
    "from pathlib import Path",
    "import sys, socket",
    "from importlib import import_module",
    "while True:\n    pass",
    "print('a'",
    "!ls",
    "%run prepare.py",
]

HARMLESS = [
    DRAWN,
    "print(df.describe())",
    "%matplotlib inline\nprint(len(df))",
    "import pandas as pd\nimport numpy as np\nimport matplotlib.pyplot as plt",
    "from matplotlib import pyplot as plt\nplt.plot([1, 2])",
    "import seaborn as sns\nsns.histplot(train['size'])",
    "clean = df.dropna()\nclean['size'] = 0\nclean.loc[0, 'size'] = 1\nclean.drop(columns='size', inplace=True)",
    "part = df[['a', 'b']]\npart['c'] = 1",
    "counts = train[target].value_counts()\nfor name, count in counts.items():\n    print(name, count)",
    "found = {}\nfor name in columns:\n    found[name] = df[name].mean()\nprint(found)",
    "rows = []\nrows.append(len(df))\nrows.sort()",
    "from sklearn.svm import SVC\nfitted = SVC().fit(df[columns], df[target])\nfitted.fit(df[columns], df[target])",
    "fig, axes = plt.subplots(1, 2)\naxes[0].hist(df['size'])\naxes[0].set_title('sizes')\nplt.show()",
    "def share(series):\n    return series.isna().mean()\nprint(share(df['size']))",
    "print(np.sort(df['size']), np.insert([1], 0, 2), np.add(1, 2))",
    "print(df.corr().to_string(), df['size'].to_list())",
    "print({name: df[name].max() for name in columns})",
    "try:\n    print(df['size'].mean())\nexcept KeyError as problem:\n    print(problem)",
    "print(' '.join(sorted(columns)))",
    "import warnings\nwarnings.filterwarnings('ignore')\nplt.style.use('ggplot')",
]  # fmt: skip


@pytest.mark.parametrize("source", HARMFUL)
def test_a_cell_that_could_do_harm_is_not_run(source: str) -> None:
    assert objection(source, RAILS)


@pytest.mark.parametrize("source", HARMLESS)
def test_a_cell_that_only_looks_is_run(source: str) -> None:
    assert objection(source, RAILS) == ""


def test_what_a_cell_made_the_next_one_may_change() -> None:
    after = with_made(RAILS, "mine = df.copy()")
    assert objection("mine['size'] = 0\nprint(mine)", RAILS)
    assert objection("mine['size'] = 0\nprint(mine)", after) == ""


def test_without_knowing_what_exists_whatever_is_read_may_be() -> None:
    assert objection("print(unheard_of)", Guardrails(kept=frozenset({"df"}))) == ""
    assert objection("df = unheard_of", Guardrails(kept=frozenset({"df"})))


def test_the_objection_names_what_is_to_be_done() -> None:
    assert "another name" in objection("df = df.dropna()", RAILS)
    assert "line 1" in objection("print('a'", RAILS)
    # How deep Python's parser goes is another thing from version to version.
    for source in ("-" * 5_999 + "1", "a\0"):
        assert "no Python: " in objection(source, RAILS)
    assert "listed" in objection("print(holdout)", RAILS)


def test_what_the_cell_of_the_playbook_makes_itself_is_not_there_for_the_model() -> None:
    guardrails = Guardrails(known=frozenset({"train"}), lent=lent_by(("order = sorted(train)", "print(order, other)")))
    assert guardrails.lent.names == {"train", "other"}
    assert objection("print(order)", guardrails)
