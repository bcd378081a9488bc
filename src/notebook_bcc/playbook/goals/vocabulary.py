"""The words that questions about a table are made of, in both languages, and what each of them does in one."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final

from notebook_bcc.playbook.goals.tokens import joined, spaced


class WordKind(Enum):
    """What a word does in a question."""

    MEASURE = "measure"
    SHARE = "share"
    RATE = "rate"
    SUPERLATIVE = "superlative"
    TOP = "top"
    COMPARE = "compare"
    BETWEEN = "between"
    IS = "is"
    NOT = "not"
    GROUP = "group"
    DISTINCT = "distinct"
    MISSING = "missing"
    CORRELATION = "correlation"
    HOW_MANY = "how many"
    HOW_MUCH = "how much"
    WHICH = "which"
    AND = "and"
    OR = "or"
    UP_TO = "up to"
    WHO = "who"
    AMONG = "among"
    ROWS = "rows"
    ENTITY = "entity"
    FILLER = "filler"
    COLUMN = "column"
    VALUE = "value"
    NUMBER = "number"
    UNKNOWN = "unknown"


# Phrases of one meaning stand together, with a bar between them.
_PHRASES: Final[Mapping[tuple[WordKind, str], str]] = {
    (
        WordKind.MEASURE,
        "mean",
    ): ("mean | average | avg | mean value | average value | the mean value | 平均 | 平均值 | 均值 | 平均数 | 平均的"),
    (WordKind.MEASURE, "median"): "median | median value | 中位数 | 中位值 | 中值 | 中位",
    (
        WordKind.MEASURE,
        "sum",
    ): ("sum | total | sum total | total sum | total amount of | 总和 | 合计 | 总计 | 求和 | 总额 | 之和 | 总的 | 总"),
    (WordKind.MEASURE, "min"): "minimum | min | minimum value | smallest value | lowest value | 最小值 | 最低值",
    (
        WordKind.MEASURE,
        "max",
    ): (
        "maximum | max | maximum value | largest value | highest value | greatest value | biggest value | "
        "最大值 | 最高值"
    ),
    (
        WordKind.SUPERLATIVE,
        "max",
    ): ("highest | largest | biggest | greatest | most | the most | 最高 | 最大 | 最多 | 最高的 | 最大的 | 最多的"),
    (
        WordKind.SUPERLATIVE,
        "min",
    ): ("lowest | smallest | fewest | least | the least | 最低 | 最小 | 最少 | 最低的 | 最小的 | 最少的"),
    (WordKind.HOW_MANY, ""): (
        "how many | number of | the number of | count | count of | total number of | total count of | "
        "count the number of | 多少个 | 多少行 | 多少条 | 多少条记录 | 多少名 | 多少位 | 多少人 | 几个 | "
        "几行 | 几条 | 几位 | 几名 | 数量 | 个数 | 行数 | 人数 | 总数 | 总行数 | 总人数 | 条数 | 记录数 | "
        "数目 | 多少种 | 几种 | 有多少"
    ),
    (WordKind.HOW_MUCH, ""): "how much | 多少 | 多大 | 几",
    (
        WordKind.SHARE,
        "",
    ): (
        "share | percentage | percent | proportion | fraction | what percent | % | 比例 | 占比 | 百分比 | "
        "百分之多少 | 百分之几 | 所占比例 | 所占的比例 | 占"
    ),
    (WordKind.RATE, ""): "rate | 率",
    (
        WordKind.MISSING,
        "",
    ): (
        "missing values | missing value | missing | null values | null value | nulls | null | empty values | "
        "empty cells | missing entries | nan values | missing data | blank values | 缺失值 | 缺失 | 空值 | "
        "缺失数据 | 空缺值"
    ),
    (
        WordKind.DISTINCT,
        "",
    ): (
        "different | distinct | unique | different values of | distinct values of | unique values of | "
        "unique values in | distinct values in | unique values | distinct values | different values | "
        "不同的 | 不同 | 不重复的 | 不重复 | 唯一值 | 不同取值 | 不同的取值 | 不同值 | 种类"
    ),
    (
        WordKind.CORRELATION,
        "",
    ): (
        "correlation | correlation coefficient | pearson correlation | pearson correlation coefficient | "
        "correlated | correlate | linear correlation | 相关系数 | 相关性 | 相关 | 皮尔逊相关系数 | "
        "皮尔逊相关 | 线性相关系数 | 相关程度"
    ),
    (WordKind.TOP, "max"): "top | the top | 前 | 排名前 | 最高的前 | 最大的前",
    (WordKind.TOP, "min"): "bottom | the bottom | 后",
    (
        WordKind.COMPARE,
        ">",
    ): (
        "greater than | more than | over | above | larger than | higher than | bigger than | exceeds | "
        "exceeding | exceed | > | 大于 | 超过 | 高于 | 多于 | 大过"
    ),
    (
        WordKind.COMPARE,
        ">=",
    ): (
        "at least | >= | ≥ | no less than | not less than | greater than or equal to | 至少 | 不少于 | "
        "不低于 | 不小于 | 大于等于 | 大于或等于"
    ),
    (
        WordKind.COMPARE,
        "<",
    ): ("less than | below | under | fewer than | smaller than | lower than | < | 小于 | 低于 | 少于 | 不足 | 不到"),
    (
        WordKind.COMPARE,
        "<=",
    ): (
        "at most | <= | ≤ | no more than | not more than | less than or equal to | 至多 | 不超过 | 不高于 | "
        "不大于 | 不多于 | 小于等于 | 小于或等于"
    ),
    (WordKind.BETWEEN, ""): "between | 介于",
    (WordKind.IS, ""): "is | are | was | were | equals | equal to | is equal to | = | == | 等于 | 是 | 为",
    (
        WordKind.NOT,
        "",
    ): (
        "not | is not | are not | isnt | arent | was not | were not | did not | do not | does not | didnt | "
        "dont | doesnt | not equal to | != | ≠ | <> | 不是 | 不等于 | 非 | 没有 | 未 | 不为 | 没"
    ),
    (
        WordKind.GROUP,
        "",
    ): (
        "by | per | for each | in each | of each | each | for every | in every | every | grouped by | "
        "group by | broken down by | split by | by each | 每个 | 每种 | 每一个 | 每 | 各 | 各个 | 各类 | "
        "按 | 按照 | 根据 | 分 | 依"
    ),
    (WordKind.WHICH, ""): "which | 哪个 | 哪一个 | 哪些 | 哪种 | 哪 | 哪类",
    (WordKind.AND, ""): "and | & | , | ， | 、 | 和 | 与 | 跟 | 及 | 以及 | 并且 | 且 | 而且",
    (WordKind.OR, ""): "or | 或 | 或者",
    (WordKind.UP_TO, ""): "到 | 至 | ~",
    (
        WordKind.WHO,
        "",
    ): (
        "who | that | whose | who are | who is | that are | who were | which are | where | when | who have | "
        "for which | for whom | having"
    ),
    (WordKind.AMONG, ""): "中 | 里 | 当中 | 之中 | 里面 | 其中",
    (
        WordKind.ROWS,
        "",
    ): (
        "rows | row | records | record | entries | entry | observations | observation | samples | sample | "
        "data points | data point | lines | instances | cases | 行 | 条 | 条记录 | 记录 | 样本 | 行数据 | "
        "条数据 | 个样本 | 数据行 | 例"
    ),
    (WordKind.ENTITY, ""): (
        "passengers | passenger | customers | customer | clients | client | people | persons | person | "
        "patients | patient | students | student | employees | employee | users | user | houses | house | "
        "homes | cars | car | vehicles | products | product | orders | order | transactions | transaction | "
        "flights | trips | games | players | members | subjects | participants | companies | stores | "
        "shops | items | 乘客 | 客户 | 顾客 | 人 | 的人 | 患者 | 病人 | 学生 | 员工 | 用户 | 房子 | 房屋 | "
        "房产 | 汽车 | 车辆 | 产品 | 商品 | 订单 | 交易 | 航班 | 会员 | 公司 | 店铺 | 门店"
    ),
    (
        WordKind.FILLER,
        "",
    ): (
        "the | a | an | of | in | on | at | to | for | from | with | what | whats | be | there | does | do | "
        "did | has | have | had | me | us | please | tell | show | give | find | calculate | compute | "
        "determine | get | report | i | we | you | can | could | would | want | need | like | know | "
        "to know | like to know | value | values | data | dataset | data set | table | file | column | "
        "columns | variable | variables | field | feature | features | overall | all | in total | "
        "altogether | whole | entire | full | this | these | those | it | its | their | among | amongst | "
        "within | across | out | out of | then | so | now | just | exactly | hi | hello | question | "
        "answer | ? | ？ | . | 。 | ! | ！ | : | ： | ; | ； | 的 | 了 | 吗 | 呢 | 啊 | 请 | 请问 | 帮 | "
        "帮我 | 我 | 我们 | 一下 | 计算 | 计算出 | 求 | 求出 | 算 | 算出 | 算一下 | 统计 | 统计一下 | 有 | "
        "在 | 这 | 这个 | 这些 | 这张 | 该 | 表 | 表中 | 表里 | 表格 | 数据 | 数据中 | 数据里 | 数据集 | "
        "数据集中 | 数据表 | 列 | 这一列 | 变量 | 字段 | 是多少 | 为多少 | 等于多少 | 是什么 | 有多大 | "
        "是多大 | 什么 | 所有 | 全部 | 总共 | 总共有 | 一共 | 一共有 | 共有 | 共 | 给 | 给出 | 得 | 查 | "
        "查看 | 看看 | 告诉 | 告诉我 | 想 | 想知道 | 知道 | 值 | 之间 | 之间的 | 两者 | 分组 | 分别 | "
        "分别是 | 分别是多少 | 分别有 | 个 | 种 | 名 | 位 | 岁 | 元 | 列出 | 显示 | 整体 | 总体 | 如何 | 怎么样 | "
        "情况 | 其"
    ),
}

PHRASES: Final[Mapping[str, tuple[WordKind, str]]] = MappingProxyType(
    {spaced(phrase.strip()): meaning for meaning, text in _PHRASES.items() for phrase in text.split(" | ")}
)

# Words for one thing: a column whose values all belong to one of these families is found by any of its words.
_FAMILIES: Final = (
    (
        "female | f | woman | women | girl | girls | females | lady | ladies | 女 | 女性 | 女士 | 女人 | 女生 | 女的",
        "male | m | man | men | boy | boys | males | gentleman | gentlemen | 男 | 男性 | 男士 | 男人 | 男生 | 男的",
    ),
    ("yes | y | true | 是 | 有", "no | n | false | 否 | 无 | 没有"),
)
FAMILIES: Final[tuple[tuple[frozenset[str], ...], ...]] = tuple(
    tuple(frozenset(joined(word) for word in kind.split(" | ")) for kind in family) for family in _FAMILIES
)
