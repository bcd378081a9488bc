"""What the views say, in each language. Texts with places for facts; the facts themselves are never translated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from notebook_bcc.notebook.counting import Count
from notebook_bcc.protocol.progress import WorkProgress
from notebook_bcc.protocol.vocabulary import Language

_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    # key: (English, Chinese)
    "run_started": ("run {run} started", "运行 {run} 已开始"),
    "run_resumed": (
        "run {run} goes on after {actions:completed action|completed actions}",
        "运行 {run} 继续，此前已完成 {actions} 个动作",
    ),
    "already_over": ("run {run} is over already", "运行 {run} 此前已结束"),
    "goal": ("goal: {goal}", "目标：{goal}"),
    "stage": ("stage {number}/{of}  {title}", "阶段 {number}/{of}  {title}"),
    "step": ("step {number}/{of}  {title}", "步骤 {number}/{of}  {title}"),
    "behavior": ("behavior {number}", "行为 {number}"),
    "behaviors_left": ("about {count:more behavior|more behaviors}", "约还有 {count} 个行为"),
    "behavior_focus": ("behavior {number}: {focus}", "行为 {number}：{focus}"),
    "cell_ok": ("cell {cell}  ok  {seconds}  {source}", "单元格 {cell}  成功  {seconds}  {source}"),
    "cell_failed": ("cell {cell}  FAILED  {seconds}  {error}", "单元格 {cell}  失败  {seconds}  {error}"),
    "action_failed": ("action {action} failed: {error}", "动作 {action} 失败：{error}"),
    "action_skipped": (
        "action {action} was skipped: no handler knows it",
        "已跳过动作 {action}：没有对应的处理程序",
    ),
    "repair": (
        "cell {cell}: repair {attempt} after {error}",
        "单元格 {cell}：第 {attempt} 次修复，原因：{error}",
    ),
    "no_repair": ("cell {cell}: no repair is known for {error}", "单元格 {cell}：没有可用的修复，原因：{error}"),
    "promoted": ("artifact {artifact} was made of {variable}", "已由变量 {variable} 生成产物 {artifact}"),
    "not_promoted": ("artifact {artifact} was not made: {error}", "产物 {artifact} 未能生成：{error}"),
    "unachieved": ("step {title} ended without its goal", "步骤“{title}”未达到目标即结束"),
    "failed": ("failed: {reason}", "出错：{reason}"),
    "cancelled": ("cancelled: {reason}", "已取消：{reason}"),
    "refused": ("event {event} was refused: {reason}", "事件 {event} 被拒绝：{reason}"),
    "warning": ("warning: {message}", "警告：{message}"),
    "update_waits": ("a change of the plan waits for an answer", "计划变更正在等待确认"),
    "update_confirmed": ("the change of the plan was accepted", "计划变更已接受"),
    "update_rejected": ("the change of the plan was declined", "计划变更已拒绝"),
    "update_accepted_by_policy": (
        "the change of the plan was accepted: nobody is here to ask (--confirm ask waits instead)",
        "计划变更已自动接受：当前无人可询问（使用 --confirm ask 可改为等待）",
    ),
    "update_dropped": ("a change of the plan was dropped: {reason}", "计划变更已放弃：{reason}"),
    "kernel_started": ("kernel {name} is up", "内核 {name} 已启动"),
    "kernel_attached": ("kernel {name} is taken up where it was left", "已接回先前留下的内核 {name}"),
    "kernel_followed": (
        "kernel {name} is taken up where it was left; its cell is followed to its end, not run again",
        "已接回先前留下的内核 {name}；继续等待其单元格结束，不重新执行",
    ),
    "kernel_abandoned": ("the kernel that was left is not taken up: {reason}", "不接回先前留下的内核：{reason}"),
    "kernel_ended": (
        "the kernel that was left is not taken up, and was ended: {reason}",
        "不接回先前留下的内核，已将其结束：{reason}",
    ),
    "cell_taken_over": (
        "cell {cell}  as before the error, not executed again",
        "单元格 {cell}  沿用出错前的结果，不再执行",
    ),
    "withdrawn": (
        "from here on the attempt before the error is withdrawn: {cells:cell|cells}",
        "自此处起撤回出错前的尝试：{cells} 个单元格",
    ),
    "withdrawn_restores": (
        "the variables come back as they were before them, from a checkpoint",
        "变量将从检查点恢复到这些单元格执行之前的状态",
    ),
    "withdrawn_left": (
        "the kernel goes on with what they did to these variables: {names}",
        "内核继续运行，保留这些单元格对下列变量的改动：{names}",
    ),
    "kernel_lost": ("the kernel is gone: {cause}", "内核已丢失：{cause}"),
    "rebuilding": (
        "rebuilding the kernel: {of:cell that had succeeded is|cells that had succeeded are} run again",
        "正在重建内核：重新执行此前成功的 {of} 个单元格",
    ),
    "rebuilding_at": ("rebuilding the kernel: cell {number} of {of}", "正在重建内核：第 {number}/{of} 个单元格"),
    "rerun_differs": ("cell {cell} gave another result: {difference}", "单元格 {cell} 的结果不同：{difference}"),
    "rerun_failed": ("cell {cell} fails now: {difference}", "单元格 {cell} 现在执行失败：{difference}"),
    "restoring": (
        "bringing back what {of:cell|cells} had made, from a checkpoint",
        "正在从检查点恢复 {of} 个单元格的结果",
    ),
    "checkpoint_loaded": (
        "loaded what {cells:cell|cells} had made, without running them; {rest:cell is|cells are} run again",
        "已载入 {cells} 个单元格的结果，无需重新运行；还需重新运行 {rest} 个单元格",
    ),
    "checkpoint_rejected": ("a checkpoint is not used: {reason}", "检查点不可用：{reason}"),
    "checkpoint_skipped": ("no checkpoint was made here: {reason}", "此处未保存检查点：{reason}"),
    "no_checkpoints": (
        "no checkpoints are made, so that a lost kernel is rebuilt by running its cells again: {reason}",
        "不保存检查点，内核丢失后只能重新运行各单元格：{reason}",
    ),
    "rebuilt_loaded": (
        "the kernel is rebuilt: {loaded:cell|cells} loaded, {cells} run again, no differences",
        "内核已重建：载入 {loaded} 个单元格的结果，重新运行 {cells} 个，无差异",
    ),
    "rebuilt": ("the kernel is rebuilt: {cells:cell|cells}, no differences", "内核已重建：{cells} 个单元格，无差异"),
    "rebuilt_differs": (
        "the kernel is rebuilt: {cells:cell|cells}, {count:difference|differences}",
        "内核已重建：{cells} 个单元格，{count} 处差异",
    ),
    "stop_completed": (
        "completed: {actions:action|actions}, {cells:code cell|code cells}, {seconds}",
        "已完成：{actions} 个动作，{cells} 个代码单元格，用时 {seconds}",
    ),
    "stop_unanswered": (
        "completed, not answered ({detail}): {actions:action|actions}, {cells:code cell|code cells}, {seconds}",
        "已完成，但未能回答（{detail}）：{actions} 个动作，{cells} 个代码单元格，用时 {seconds}",
    ),
    "stop_failed": ("stopped in an error: {detail}", "因错误停止：{detail}"),
    "stop_cancelled": ("cancelled: {detail}", "已取消：{detail}"),
    "stop_limit": ("stopped at a limit: {detail}", "达到上限，已停止：{detail}"),
    "stop_paused": ("paused", "已暂停"),
    "stop_waiting": ("stopped, waiting for an answer: {detail}", "已停止，等待答复：{detail}"),
    "stop_interrupted": ("Stopped: {detail}", "已停止：{detail}"),
    "answered_unverified": (
        "answered, not verified yet; verify it with:   {command}",
        "已回答，尚未验证；如需验证，请运行：{command}",
    ),
    "not_answered": ("NOT answered: {why}", "未能回答：{why}"),
    "go_on": ("Resume with: {command}", "继续运行：{command}"),
    "start_over": ("start over with:   {command}", "重新开始：{command}"),
    "answer_with": ("answer with:   {command}", "答复命令：{command}"),
    "result": ("result:    {headline}", "结果：    {headline}"),
    "result_interval": (" ({low} to {high})", "（{low} 至 {high}）"),
    "result_naive": (", naive {naive}", "，朴素预测 {naive}"),
    "result_no_better": ("; NO BETTER than the naive forecast", "；不比朴素预测好"),
    "result_not_shown": ("; NOT SHOWN to be better than the naive forecast", "；没有证据表明好于朴素预测"),
    "result_error": ("; off by {error} on average", "；平均误差 {error}"),
    "notebook": ("notebook:  {path}", "笔记本：  {path}"),
    "server_copy": ("on server: {place}", "服务器上：{place}"),
    "page": ("page:      {path}", "网页：    {path}"),
    "report": ("report:    {path}", "报告：    {path}"),
    "files_in": ("files in   {path}", "文件位于：{path}"),
    "file": ("  {size:>9}  {name}", "  {size:>9}  {name}"),
    "more_files": ("             and {count} more", "             另有 {count} 个"),
    "no_runs": (
        "no runs in {root}; `nbcc run DATA.csv` or `nbcc run SCRIPT.yaml` makes one",
        "{root} 中没有运行；可用 `nbcc run DATA.csv` 或 `nbcc run SCRIPT.yaml` 新建",
    ),
    "older_runs": (
        "{count:older run is|older runs are} not shown; --limit 0 shows all",
        "另有 {count} 个较早的运行未显示；--limit 0 可显示全部",
    ),
    "status_between": (", ", "，"),
    "status_running": ("running", "进行中"),
    "status_completed": ("completed", "已完成"),
    "status_failed": ("failed", "失败"),
    "status_cancelled": ("cancelled", "已取消"),
    "status_limit": ("limit", "达到上限"),
    "status_paused": ("paused", "已暂停"),
    "status_waiting": ("waiting", "等待答复"),
    "status_interrupted": ("interrupted", "被中断"),
    "status_killed": ("killed", "进程已终止"),
    "status_broken": ("broken", "已损坏"),
    "status_answered": ("answered", "已回答"),
    "status_not_answered": ("not answered", "未能回答"),
    "status_not_verified": ("not verified", "未验证"),
    "status_not_verified_yet": ("not verified yet", "尚未验证"),
    "row_run": ("run", "运行"),
    "row_status": ("status", "状态"),
    "row_score": ("score (naive)", "得分（朴素）"),
    "row_reason": ("reason", "原因"),
    "row_result": ("result", "结果"),
    "row_goal": ("goal", "目标"),
    "row_data": ("data", "数据"),
    "row_target": ("target", "目标列"),
    "row_state": ("state", "状态机"),
    "row_stage": ("stage", "阶段"),
    "row_step": ("step", "步骤"),
    "row_behavior": ("behavior", "行为"),
    "row_steps": ("steps", "步骤数"),
    "row_actions": ("actions", "动作"),
    "row_cells": ("cells", "单元格"),
    "row_time": ("time", "用时"),
    "row_models": ("models", "模型"),
    "row_started": ("started", "开始于"),
    "row_last": ("last", "最近"),
    "row_notebook": ("notebook", "笔记本"),
    "row_delivery": ("delivery", "交付"),
    "row_change": ("change", "变更"),
    "row_question": ("question", "问题"),
    "row_next": ("next", "下一步"),
    "question": ("the planner asks: {text}", "规划器提问：{text}"),
    "option": ("  {number}. {option}", "  {number}. {option}"),
    "choose": ("Number or name (empty: answer later): ", "请输入编号或名称（直接回车表示稍后回答）："),
    "type_answer": ("Answer (empty: later): ", "请输入答案（直接回车表示稍后回答）："),
    "choose_again": ("Please answer with one of the {count} above.", "请从以上 {count} 项中选择。"),
    "left_out": (
        "{count:code cell|code cells} left out of the notebook, which only looked for what the data hold, or failed; "
        "nbcc export {run} --all --to ipynb has everything",
        "笔记本中略去了 {count} 个代码单元格（只用于查看数据，或执行失败）；"
        "如需包含，请运行 nbcc export {run} --all --to ipynb",
    ),
    "progress_part": ("{done} of {of}", "{done}/{of}"),
    "progress_seconds": ("{seconds} s so far", "已用 {seconds} 秒"),
    "progress_memory": ("{megabytes} MB", "内存 {megabytes} MB"),
    "progress_cpu": ("CPU {percent}%", "CPU {percent}%"),
    "verifying": (
        "verifying: cell {number} of {of} in a fresh kernel",
        "正在验证：在全新内核中执行第 {number}/{of} 个单元格",
    ),
    "verified": (
        "verified:  {cells:code cell gives|code cells give} the same results in a fresh kernel",
        "已验证：  {cells} 个代码单元格在全新内核中结果一致",
    ),
    "not_verified": (
        "NOT verified: {count:difference|differences} when run again in a fresh kernel",
        "验证未通过：在全新内核中重新执行后有 {count} 处差异",
    ),
    "unverified": ("not verified: {why}", "未验证：{why}"),
    "replay_identical": (
        "the replay gave the same notebook to the byte: {cells:cell|cells}",
        "重放得到逐字节相同的笔记本：{cells} 个单元格",
    ),
    "replay_same": (
        "the replay gave the same notebook: {cells:cell|cells}, apart from addresses, durations and ids in outputs",
        "重放得到相同的笔记本：{cells} 个单元格（输出中的内存地址、耗时和编号除外）",
    ),
    "replay_differs": ("the replay differs in {count:place|places}", "重放结果有 {count} 处不同"),
    "difference": ("cell {cell}: {what}", "单元格 {cell}：{what}"),
    "more": ("... and {count} more", "……另有 {count} 条"),
    "pausing": (
        "pausing after the current action; press Ctrl-C again to stop at once",
        "将在当前动作完成后暂停；再按一次 Ctrl-C 立即停止",
    ),
    "stopping": ("stopping now; the run can be resumed", "正在立即停止；之后可以继续运行"),
    "hint": ("Ctrl-C pauses after the current action", "按 Ctrl-C 可在当前动作完成后暂停"),
    "hint_verifying": ("Ctrl-C skips the verification", "按 Ctrl-C 可跳过验证"),
    "verification_skipped": (
        "the verification was skipped; do it later with:   {command}",
        "已跳过验证；之后可运行：{command}",
    ),
    "elapsed": ("{time} · {actions:action|actions}", "{time} · {actions} 个动作"),
    "steps_done": ("{done} of {of} steps", "步骤 {done}/{of}"),
    "stages_done": ("stage {number} of {of}, {done:step|steps} done", "阶段 {number}/{of}，已完成 {done} 步"),
    "cells_verified": ("{done} of {of} cells verified", "已验证单元格 {done}/{of}"),
    "left_few": ("a few seconds left", "还需几秒"),
    "left_seconds": ("about {seconds} s left", "约剩 {seconds} 秒"),
    "left_minutes": ("about {minutes} min left", "约剩 {minutes} 分钟"),
    "left_hours": ("about {hours} h {minutes:02d} min left", "约剩 {hours} 小时 {minutes} 分钟"),
    "doing_starting": ("starting", "正在启动"),
    "doing_planning": ("asking the planner", "正在询问规划器"),
    "doing_generating": ("waiting for the next action", "正在等待下一个动作"),
    "doing_kernel": ("starting the kernel", "正在启动内核"),
    "doing_delivery": ("writing the notebook", "正在写入笔记本"),
    "doing_action": ("{action}", "{action}"),
    "doing_cell": ("running cell {cell} · {seconds}", "正在执行单元格 {cell} · {seconds}"),
    "doing_person": ("waiting for an answer", "正在等待答复"),
    "no_plan": ("no plan yet", "尚无计划"),
    "more_lines": ("({count:more line|more lines})", "（还有 {count} 行）"),
    "proposal": ("The planner proposes to change the plan:", "规划器提议修改计划："),
    "accept": ("Accept it? [y]es / [n]o / [w]ait for later: ", "是否接受？[y] 接受 / [n] 拒绝 / [w] 稍后决定："),
    "accept_again": ("Please answer y, n or w.", "请输入 y、n 或 w。"),
    "beyond_limit": (
        "Stopped: {limit}. Go on for as long again? [y]es / [n]o: ",
        "已停止：{limit}。是否再继续同样长？[y] 是 / [n] 否：",
    ),
    "serving": (
        "{url} answers planning and generating requests from {source}; Ctrl-C stops it",
        "{url} 正在依据 {source} 应答规划与生成请求；按 Ctrl-C 停止",
    ),
    "page_at": (
        "the page is at {url} ; Ctrl-C closes it, and no run",
        "页面地址：{url} ；按 Ctrl-C 关闭页面，不影响任何运行",
    ),
    "page_stays": ("the page stays open; Ctrl-C closes it", "页面保持打开；按 Ctrl-C 关闭"),
    "page_for_watchers": ("for people who may only look on: {url}", "仅供旁观者使用：{url}"),
    "token": ("token (shown once, kept nowhere): {token}", "令牌（仅显示一次，不会保存）：{token}"),
    "unencrypted": (
        "warning: requests and the token travel unencrypted; put a server with TLS in front of this one",
        "警告：请求和令牌以明文传输；请在此服务之前部署 TLS 代理",
    ),
    "backend": (
        "{url} is a Jupyter Server whose root is {root}; Ctrl-C stops it and its kernels",
        "{url} 是 Jupyter Server，根目录为 {root}；按 Ctrl-C 停止该服务及其内核",
    ),
    "backend_use": ("use it with:   {command}", "使用方法：{command}"),
    "seconds": ("{value} s", "{value} 秒"),
    "model_local": ("model {model}, on this machine", "模型 {model}，在本机运行"),
    "model_away": (
        "model {model}: what it is told leaves this machine for {address}",
        "模型 {model}：告知它的内容将离开本机，发送到 {address}",
    ),
    "share_values": (
        "it may be told everything of the data, cell values included (--share values)",
        "可告知数据的全部内容，包括单元格的值（--share values）",
    ),
    "share_schema": (
        "of the data it may be told names, types and aggregate numbers, no cell values (--share schema)",
        "只告知数据的名称、类型和汇总数字，不含单元格的值（--share schema）",
    ),
    "share_none": (
        "it may be told nothing of the data: your goal and the plan's own words (--share none)",
        "不告知任何数据内容，只有目标和计划本身的文字（--share none）",
    ),
    "models_spent": (
        "models:    {calls:call|calls}, {tokens} tokens, {cost}, {seconds}",
        "模型：    调用 {calls} 次，{tokens} 个词元，{cost}，{seconds}",
    ),
    "models_live": ("{tokens} tokens · {cost}", "{tokens} 个词元 · {cost}"),
    "cost_unknown": ("cost unknown", "费用未知"),
    "cost_partly": ("{cost}, the rest unknown", "{cost}，其余未知"),
}

_LONGEST_WORK: Final = 80
_INDEX: Final[Mapping[Language, int]] = {"en": 0, "zh": 1}


class Words:
    """The catalogue in one language."""

    def __init__(self, language: Language = "en") -> None:
        self.language = language
        self._index = _INDEX[language]

    def __call__(self, key: str, /, **facts: object) -> str:
        """The text of a key with its facts. An unknown key is a KeyError: the catalogue is complete or wrong."""
        counted = {name: Count(fact) if isinstance(fact, int) else fact for name, fact in facts.items()}
        return _WORDS[key][self._index].format(**counted)

    def seconds(self, value: float) -> str:
        """A duration, short."""
        if value < 60:
            return self("seconds", value=f"{value:.2f}" if value < 10 else f"{value:.1f}")
        return clock_time(value)

    def progress(self, progress: WorkProgress) -> str:
        """How far a long piece of work is, on one short line."""
        parts: list[str] = []
        if progress.done is not None:
            counted = {"done": progress.done, "of": progress.of}
            parts.append(str(progress.done) if progress.of is None else self("progress_part", **counted))
        if progress.seconds is not None:
            parts.append(self("progress_seconds", seconds=round(progress.seconds)))
        if progress.seconds_left is not None:
            parts.append(self.left(progress.seconds_left))
        if progress.memory_bytes is not None:
            parts.append(self("progress_memory", megabytes=round(progress.memory_bytes / 1e6)))
        if progress.cpu_percent is not None:
            parts.append(self("progress_cpu", percent=round(progress.cpu_percent)))
        what = " ".join("".join(one if one.isprintable() else " " for one in progress.what[:_LONGEST_WORK]).split())
        return f"{what}: {', '.join(parts)}" if parts else what

    def left(self, seconds: float) -> str:
        """About how long something takes from now on: no more digits than an estimate deserves."""
        if seconds < 8:
            return self("left_few")
        if seconds < 55:
            return self("left_seconds", seconds=round(seconds / 10) * 10)
        minutes = max(1, round(seconds / 60))
        if minutes < 60:
            return self("left_minutes", minutes=minutes)
        return self("left_hours", hours=minutes // 60, minutes=minutes % 60)


def clock_time(seconds: float) -> str:
    """`01:23`, or `1:02:03` from an hour on."""
    whole = int(seconds)
    hours, minutes = whole // 3600, whole % 3600 // 60
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes:02d}:{whole % 60:02d}"


def catalogue() -> Mapping[str, tuple[str, str]]:
    """Every text in both languages, for tests that compare them."""
    return _WORDS
