# ruff: noqa: E501  a row of the table is a line
"""Kinds of objects that a checkpoint brings back: saved in one kernel, loaded and compared in the next."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from notebook_bcc.kernel.interface import SavedCheckpoint
from notebook_bcc.kernel.local.kernel import LocalKernel

pytestmark = pytest.mark.anyio

# One line makes the object as `x`; the other is true of the one that comes back.
KINDS: dict[str, tuple[str, str]] = {
    "int": ("x = 2**200", "x == 2**200"),
    "nan": ("x = float('nan')", "x != x"),
    "text": ("x = 'π' * 3", "x == 'πππ'"),
    "bytearray": ("x = bytearray(b'ab')", "x == bytearray(b'ab') and type(x) is bytearray"),
    "complex": ("x = 1 + 2j", "x == 1 + 2j"),
    "nested": ("x = {'a': [1, (2, {3})], None: frozenset({4})}", "x == {'a': [1, (2, {3})], None: frozenset({4})}"),
    "cycle": ("x = []; x.append(x)", "x[0] is x"),
    "range": ("x = range(2, 9, 3)", "x == range(2, 9, 3)"),
    "slice": ("x = slice(1, 5)", "x == slice(1, 5)"),
    "list_iterator": ("x = iter([1, 2, 3]); next(x)", "list(x) == [2, 3]"),
    "defaultdict": ("x = collections.defaultdict(list); x['a'].append(1)", "x['a'] == [1] and x['b'] == []"),
    "defaultdict_lambda": ("x = collections.defaultdict(lambda: 7)", "x['b'] == 7"),
    "counter": ("x = collections.Counter('aab')", "x['a'] == 2 and type(x) is collections.Counter"),
    "ordered_dict": ("x = collections.OrderedDict(b=1, a=2)", "list(x) == ['b', 'a']"),
    "deque": ("x = collections.deque([1, 2], maxlen=2)", "x.maxlen == 2 and list(x) == [1, 2]"),
    "date": ("x = datetime.date(2020, 2, 29)", "x == datetime.date(2020, 2, 29)"),
    "aware": ("x = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)", "x.tzinfo is datetime.timezone.utc"),
    "zone": ("x = datetime.datetime(2020, 7, 1, tzinfo=zoneinfo.ZoneInfo('UTC'))", "x.tzinfo.key == 'UTC'"),
    "timedelta": ("x = datetime.timedelta(1, 2, 3)", "x == datetime.timedelta(1, 2, 3)"),
    "decimal": ("x = decimal.Decimal('0.10')", "str(x) == '0.10'"),
    "fraction": ("x = fractions.Fraction(1, 3)", "x == fractions.Fraction(1, 3)"),
    "uuid": ("x = uuid.UUID(int=5)", "x.int == 5"),
    "path": ("x = pathlib.Path('a') / 'b'", "x == pathlib.Path('a/b')"),
    "pattern": ("x = re.compile('a+', re.I)", "x.flags & re.I and x.match('AA')"),
    "builtin_method": ("x = re.compile('a+').fullmatch", "x('aa') is not None"),
    "partial": ("x = functools.partial(max, 3)", "x(1) == 3"),
    "exception": ("x = ValueError('no')", "type(x) is ValueError and x.args == ('no',)"),
    "simple_namespace": ("x = types.SimpleNamespace(a=1)", "x.a == 1"),
    "string_io": ("x = io.StringIO('abc'); x.read(1)", "x.read() == 'bc'"),
    "bytes_io": ("x = io.BytesIO(b'abc')", "x.getvalue() == b'abc'"),
    "random": ("x = random.Random(3); y = random.Random(3).random()", "x.random() == y"),
    "module": ("import json.decoder as x", "x is sys.modules['json.decoder']"),
    "function": ("K = 1\ndef x(): return K", "x() == 1 and x.__globals__ is globals()"),
    "recursive": ("def x(n): return 1 if n < 2 else n * x(n - 1)", "x(5) == 120"),
    "lambda": ("x = lambda a, b=2: a + b", "x(1) == 3"),
    "closure": ("def make(n):\n    def inner(): return n\n    return inner\nx = make(4)", "x() == 4"),
    "shared_closure": (
        "def pair():\n    n = 0\n    def up():\n        nonlocal n\n        n += 1\n    return up, lambda: n\nx = pair()",
        "(x[0](), x[1]())[1] == 1",
    ),
    "decorated": ("@functools.lru_cache\ndef x(n): return n + 1", "x(1) == 2"),
    "generator_function": ("def x():\n    yield 1", "list(x()) == [1]"),
    "async_function": ("async def x(): return 1", "asyncio.iscoroutinefunction(x)"),
    "class": ("class C:\n    n = 1\n    def get(self): return self.n\nx = C(); x.n = 5", "type(x) is C and x.get() == 5"),
    "subclass": ("class D(C):\n    def get(self): return super().get() + 1\nx = D()", "x.get() == 2 and isinstance(x, C)"),
    "slots": ("class S:\n    __slots__ = ('a',)\nx = S(); x.a = 3", "x.a == 3"),
    "property": ("class R:\n    @property\n    def two(self): return 2\nx = R()", "x.two == 2"),
    "metaclass": ("class M(type): pass\nclass W(metaclass=M): pass\nx = W()", "type(type(x)) is M"),
    "abstract": ("class B(abc.ABC):\n    @abc.abstractmethod\n    def a(self): ...\nx = B", "x.__abstractmethods__ == {'a'}"),
    "dataclass": ("@dataclasses.dataclass(frozen=True)\nclass P:\n    a: int\n    b: float\nx = P(1, float('nan'))", "x.a == 1"),
    "enum": ("class E(enum.Enum):\n    A = 1\nx = [E.A, E.A]", "x[0] is E.A and x[1] is x[0]"),
    "flag": ("class F(enum.Flag):\n    A = 1\n    B = 2\nx = F.A | F.B", "x == F.A | F.B"),
    "named_tuple": ("N = collections.namedtuple('N', 'a b'); x = N(1, 2)", "x.b == 2 and type(x) is N"),
    "typed_tuple": ("class T(typing.NamedTuple):\n    a: int\nx = T(1)", "x.a == 1"),
    "bound_method": ("x = C().get", "x() == 1"),
    "weak_reference": ("strong = C(); x = weakref.ref(strong)", "x() is strong"),
    "shared_list": ("x = []; x2 = {'same': x}", "x2['same'] is x"),
    "array": ("x = np.arange(6.0).reshape(2, 3); x[0, 0] = np.nan", "x.shape == (2, 3) and np.isnan(x[0, 0])"),
    "fortran_array": ("x = np.asfortranarray(np.arange(6).reshape(2, 3))", "x.flags.f_contiguous and x[1, 2] == 5"),
    "view": ("base = np.arange(9); x = base[2:5]", "x.__setitem__(0, 99) is None and base[2] == 99"),
    "reversed_view": ("base2 = np.arange(4); x = base2[::-1]", "x.tolist() == [3, 2, 1, 0] and np.shares_memory(x, base2)"),
    "read_only": ("x = np.arange(3); x.flags.writeable = False", "not x.flags.writeable"),
    "object_array": ("x = np.array([1, 'a', None], dtype=object)", "x.tolist() == [1, 'a', None]"),
    "structured": ("x = np.array([(1, 2.0)], dtype=[('a', int), ('b', float)])", "x['b'][0] == 2.0"),
    "masked": ("x = np.ma.masked_equal([1, 2], 2)", "x.mask.tolist() == [False, True]"),
    "numpy_scalar": ("x = np.float32(1.5)", "type(x) is np.float32"),
    "datetime64": ("x = np.array(['2020-01-01', 'NaT'], dtype='datetime64[D]')", "np.isnat(x[1])"),
    "generator": ("x = np.random.default_rng(1); y = np.random.default_rng(1).random()", "x.random() == y"),
    "random_state": ("x = np.random.RandomState(1); y = np.random.RandomState(1).rand()", "x.rand() == y"),
    "frame": (
        "x = pd.DataFrame({'i': [1, 2], 'f': [.5, None], 'b': [True, False], 's': ['a', None],"
        " 'o': [object, {1: 2}], 'c': pd.Categorical(['u', 'v'], ordered=True), 't': pd.to_datetime(['2020-01-01', None]),"
        " 'z': pd.to_datetime(['2020-01-01'] * 2).tz_localize('UTC'), 'd': pd.to_timedelta([1, 2], 'h'),"
        " 'n': pd.array([1, None], dtype='Int64'), 'p': pd.period_range('2020', periods=2, freq='M'),"
        " 'v': pd.interval_range(0, 2), 'g': pd.array(['x', None], dtype='string'), 'm': pd.array([True, None], dtype='boolean'),"
        " 'q': pd.arrays.SparseArray([0, 1])}, index=['r', 'w']); dtypes = x.dtypes.to_dict()",
        "x.dtypes.to_dict() == dtypes and x.loc['w', 'i'] == 2 and x['c'].cat.ordered",
    ),
    "frame_of_array": ("source = np.zeros((2, 2)); x = pd.DataFrame(source)", "x.shape == (2, 2)"),
    "multi_index": ("x = pd.MultiIndex.from_product([[1, 2], list('ab')], names=['n', None])", "x.names[0] == 'n' and len(x) == 4"),
    "series": ("x = pd.Series([1, 2], name='q')", "x.name == 'q' and x.sum() == 3"),
    "series_of_objects": ("x = pd.Series([C(), C()])", "type(x[0]) is C"),
    "group_by": ("x = pd.DataFrame({'a': [1, 1], 'b': [2, 3]}).groupby('a')", "x['b'].sum()[1] == 5"),
    "timestamp": ("x = pd.Timestamp('2020-01-01', tz='UTC')", "x.tz is not None"),
    "sparse": ("x = scipy.sparse.csr_matrix(np.eye(2))", "x[1, 1] == 1"),
    "frozen_distribution": ("x = scipy.stats.norm(1, 2)", "x.mean() == 1"),
    "linear": ("x = LinearRegression().fit([[1.], [2.]], [1., 2.])", "abs(x.predict([[3.]])[0] - 3) < 1e-9"),
    "forest": ("x = RandomForestRegressor(3, random_state=0).fit([[1.], [2.]], [1., 2.]); y = x.predict([[1.]])[0]", "x.predict([[1.]])[0] == y"),
    "boosting": ("x = HistGradientBoostingRegressor(max_iter=2).fit([[1.], [2.]], [1., 2.]); y = x.predict([[1.]])[0]", "x.predict([[1.]])[0] == y"),
    "pipeline": ("x = make_pipeline(StandardScaler(), LinearRegression()).fit([[1.], [2.]], [1., 2.])", "x[0].mean_[0] == 1.5"),
    "own_transformer": ("x = FunctionTransformer(lambda a: a * 2)", "x.transform(np.ones(1))[0] == 2"),
    "search": ("x = GridSearchCV(Ridge(), {'alpha': [1, 2]}, cv=2).fit([[1.], [2.], [3.], [4.]], [1, 2, 3, 4.])", "x.best_params_['alpha'] == 1"),
    "splitter": ("x = KFold(3, shuffle=True, random_state=1); y = [t.tolist() for _, t in x.split(range(6))]", "[t.tolist() for _, t in x.split(range(6))] == y"),
    "figure": ("x, axes = plt.subplots(); _line = axes.plot([1, 2]); plt.close(x)", "len(x.axes[0].lines) == 1 and x.axes[0] is axes"),
    "arrow": ("x = pa.table({'a': [1, 2]})", "x.num_rows == 2"),
    "private_name": ("_hidden = 3; x = 1", "_hidden == 3"),
    "annotation": ("x: int = 3", "x == 3"),
}  # fmt: skip
IMPORTS = """
import abc, asyncio, collections, dataclasses, datetime, decimal, enum, fractions, functools, io, pathlib, random, re
import os, sys, types, typing, uuid, warnings, weakref, zoneinfo
import matplotlib.pyplot as plt, numpy as np, pandas as pd, pyarrow as pa, scipy.sparse, scipy.stats
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
"""
SETTINGS = """
os.makedirs('deep', exist_ok=True); os.chdir('deep'); os.environ['NBCC_TRIED'] = '1'; sys.path.insert(0, '/nowhere')
pd.set_option('display.max_rows', 7); pd.set_option('display.float_format', lambda v: f'<{v}>')
plt.rcParams['lines.linewidth'] = 5; np.set_printoptions(precision=3); decimal.getcontext().prec = 9
warnings.filterwarnings('ignore', message='of this test'); random.seed(5); np.random.seed(6)
"""
UNSAVED = """
import sqlite3, threading
gen = (n for n in range(3)); handle = open('log.txt', 'w'); connection = sqlite3.connect(':memory:')
lock = threading.Lock(); thread = threading.Thread(target=print)
def logs(): return handle
class Liar:
    def __init__(self): self.kept = 1
    def __reduce__(self): return (Liar, ())
liar = Liar(); liar.kept = 2
class Unequal:
    def __eq__(self, other): return False
    def __reduce__(self): return (Unequal, ())
    __hash__ = None
unequal = Unequal()
class Broken:
    def __reduce__(self): return (int, ('no number',))
broken = Broken()
"""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


class Tried:
    """One kernel's work: everything made, saved, and loaded into the kernel after it."""

    def __init__(self, kernel: LocalKernel, saved: SavedCheckpoint, random_numbers: str) -> None:
        self.kernel, self.saved, self.random_numbers = kernel, saved, random_numbers


@pytest.fixture(scope="module")
async def tried(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Tried]:
    folder: Path = tmp_path_factory.mktemp("kinds")
    kernel = LocalKernel(cwd=folder)
    await kernel.start()
    try:
        made = "\n".join(_renamed(name, code) for name, (code, _) in KINDS.items())
        for source in (IMPORTS, made, UNSAVED, SETTINGS):
            execution = await kernel.execute(source)
            assert execution.error is None, execution.error
        path = str(folder / "all.checkpoint")
        saved = await kernel.save_checkpoint(path, seconds=60)
        assert not saved.problem
        numbers = await _said(kernel, "random.random(), np.random.rand()")
        await kernel.restart()
        loaded = await kernel.load_checkpoint(path, digest=saved.digest, versions=saved.versions)
        assert not loaded.problem
        assert loaded.execution_count == 4
        yield Tried(kernel, saved, numbers)
    finally:
        await kernel.close()


def _renamed(name: str, code: str) -> str:
    """Every kind has names of its own, so that all of them are in one namespace."""
    return f"{code}\nkind_{name} = x\nyou_{name} = globals().get('y')"


async def _said(kernel: LocalKernel, expression: str) -> str:
    execution = await kernel.execute(f"print({expression})")
    assert execution.error is None, execution.error
    return str(execution.outputs[0]["text"]).strip()


@pytest.mark.parametrize("name", list(KINDS))
async def test_an_object_comes_back_as_it_was(tried: Tried, name: str) -> None:
    assert f"kind_{name}" not in tried.saved.unsaved
    check = KINDS[name][1]
    source = f"x, y = kind_{name}, you_{name}\nprint(bool({check}))"
    execution = await tried.kernel.execute(source)
    assert execution.error is None, execution.error
    assert execution.outputs[0]["text"] == "True\n"


async def test_what_cannot_be_saved_is_named_and_not_there(tried: Tried) -> None:
    unsaved = tried.saved.unsaved
    expected = {"gen", "handle", "connection", "lock", "thread", "logs", "liar", "unequal", "broken"}
    assert expected <= unsaved.keys() <= {*expected, "x", "y"}
    assert unsaved["liar"] == "it comes back as something else"
    assert unsaved["logs"] == "it uses 'handle', which is not saved"
    assert await _said(tried.kernel, f"sorted(set({sorted(expected)!r}) & set(globals()))") == "[]"


async def test_random_states_and_settings_come_back(tried: Tried) -> None:
    assert await _said(tried.kernel, "os.path.basename(os.getcwd()), os.environ['NBCC_TRIED'], sys.path[0]") == (
        "deep 1 /nowhere"
    )
    options = (
        "pd.get_option('display.max_rows'), pd.get_option('display.float_format')(1), plt.rcParams['lines.linewidth']"
    )
    assert await _said(tried.kernel, options) == "7 <1> 5.0"
    more = "np.get_printoptions()['precision'], decimal.getcontext().prec, 'of this test' in str(warnings.filters)"
    assert await _said(tried.kernel, more) == "3 9 True"


async def test_a_function_of_a_cell_sees_what_later_cells_assign(tried: Tried) -> None:
    await tried.kernel.execute("K = 42")
    assert await _said(tried.kernel, "kind_function()") == "42"
