"""Words that say nothing about anybody's data: of statistics, of Python and of its libraries' messages."""

from __future__ import annotations

from typing import Final

_WORDS: Final = """
25% 50% 75% a above accepted access accuracy add adjusted after agg aggregate aic all allow allowed alpha
already ambiguous an analyze and anova any apply are area argument arguments array as assign assignment astype
at attempt attribute attributes auc available average axis bad balanced base baseline be been before below best
beta between bias bic bin bins bool boolean bound boxplot broadcast broadcastable build by call callable called
can cannot cast categorical categories category caused change check chi2 class classes classification closed
cluster clusters code coefficient coefficients column columns compare compatible compute computed concatenate
confusion consider constant contain contains continuous conversion convert converted converting copy
correlation correlations could count counts covariance create cross cumulative current cv data dataframe
dataset date datetime decode default define defined degrees delete deprecated deviation df dict dictionary did
difference different digits dimension dimensions directory distinct distribution divide division do does dropna
dtype dtypes duplicate duplicated duplicates each else empty encode encoded encountered end ends entries
entropy epoch epochs equal error errors estimate estimator estimators evaluation every exceeded exception exist
exists expect expected expecting explicit exponent f1 failed false feature features file files fill fillna find
first fit fit_transform fitted fixed flag float float32 float64 fold folds following for forbidden forest form
format found frame frequency from function functions future gap get gini given got gradient greater group
groupby groups had handle has hashable have height help histogram holdout hyperparameter if ignore iloc
implemented import importance importances imported imputed in include includes incompatible incorrect index
indexed indexer indexers indexing indices infer infinite infinity initialize input inputs inside instance
instead int int32 int64 int8 integer integers intercept internal interval into invalid invertible iqr is it
item items iterable iteration iterations its join key keys keyword keywords kind known kurtosis label labels
large lasso last least least-squares len length lengths less level levels lightgbm line linear lines list
literal load loaded loc local log logistic longer look lookup loss low lower macro mae make many mape mapping
mask match matches matching matplotlib matrix max max_depth maximum maybe mean means median memory merge
message method methods metric micro min minimum mismatch missing mixed mode model models module modules more
most mse must mutable mutual n_estimators n_splits na name names nan nat needs neg negative nested neural new
next no non non-null non-numeric none not null nulls number numbers numeric numpy obj object objective objects
observations of old on one only open operand operands operation operations operator option options or order
other out outlier outliers output outputs outside over overall overflow p-value package pairs pandas parameters
parse parsed parser parsing part pass passed path pca per percent percentage percentile perform permission
permutation pickle please plot population position positional positive possible precision predict predict_proba
predicted prediction predictions predictor predictors previous probability problem process proper property
proportion provide provided python quantile quartile r-squared r2 raise raised random random_state range rank
rate ratio reached read read_csv recall recursion reference refused regression regressor regularization reindex
removed required requires reshape residual residuals resolve result results return returned returns ridge rmse
roc rolling row rows rule run running safely same sample samples scalar scale scaled scikit-learn scipy score
scores se seaborn see seed self sequence series set setting shape shapes share should shuffle significant
single singular size sizes skew skewness sklearn slice small solver some sort source specified specify split
splits standard start state statement statsmodels std step steps str string strings structure subset such
suffixes sum summary supplied support supported sure syntax t-test table take takes target targets template
test than that the then these this those time timedelta to to_numeric tokens too total train train_test_split
training transform tree trees true truth try tuple two type types unable unbound undefined under unexpected
unhashable unicode unique unknown unpack unsupported untargeted unterminated update upper use usecols used
using utf-8 valid validation value values variable variables variance verify version view warning warnings was
weighted weights were when where which while width will with within without would write written wrong xgboost
yet you your zero zero-size zeros
"""
_AGGREGATES: Final = """
25% 50% 75% accuracy all avg count f1 f1-score first freq kurt last macro mad mae max mean median micro min mse
precision r2 range recall rmse score sem skew std sum support top total unique var weighted
"""
_CHINESE: Final = """
个 中位数 为 共 准确率 列 列数 召回率 和 唯一 唯一值 均值 均方根误差 基线 平均 平均值 异常值 得分 总和 总数
数量 方差 无 是 最大 最大值 最小 最小值 有 标准差 样本 模型 比例 测试 测试集 特征 百分比 的 目标 相关 相关系数
类别 精确率 缺失 缺失值 行 行数 计数 训练 训练集 误差 重复 预测 验证
"""

WORDS: Final = frozenset(_WORDS.split())
AGGREGATES: Final = frozenset(_AGGREGATES.split())
"""Row labels of tables that hold no rows of data. What stands behind `top` is a value, and withheld as any word is."""
CHINESE: Final = frozenset(_CHINESE.split())
