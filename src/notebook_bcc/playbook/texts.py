"""Texts and rules that stand in YAML files: read, with what is wrong said at its line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from notebook_bcc.errors import MessageInvalid, sentence
from notebook_bcc.planners.marked_yaml import Marked
from notebook_bcc.playbook.book import Text
from notebook_bcc.playbook.parts import RulePart, TextPart, TextsPart
from notebook_bcc.playbook.templates.environment import Kind, Template, Templates

# (file:line, problem)
Found = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Places:
    """One YAML file: the lines of its parts, and where problems with them are said."""

    file: str
    marked: Marked
    problems: Found

    def line(self, path: str) -> int:
        """The line of a part, or of the innermost part around it that is in the file."""
        while path and path not in self.marked.lines:
            path = path.rpartition(".")[0]
        return self.marked.lines.get(path, 1)

    def say(self, path: str, problem: str) -> None:
        """Note a problem with a part."""
        self.problems.append((f"{self.file}:{self.line(path)}", sentence(path, problem)))


@dataclass(frozen=True, slots=True)
class TextReader:
    """Reads texts in the languages of one playbook."""

    templates: Templates
    languages: tuple[str, ...]
    problems: Found
    # Rules that other rules use by their names.
    conditions: Mapping[str, Template] = field(default_factory=dict)

    def text(self, part: TextPart, places: Places, path: str, kind: Kind = Kind.PLAIN) -> Text:
        """A text of a YAML file, in all its languages."""
        if isinstance(part, str):
            read = {self.languages[0]: self.inline(part, kind, places, path) if part else None}
        else:
            self._check_languages(part, places, path)
            read = {
                each: self.inline(part[each], kind, places, f"{path}.{each}")
                for each in self.languages
                if part.get(each)
            }
        return Text({each: template for each, template in read.items() if template is not None})

    def texts(self, part: TextsPart, places: Places, path: str) -> Text:
        """A text, or several of which the first is said that the facts suffice for."""
        if isinstance(part, str | dict):
            return self.text(part, places, path)
        read = [self.text(each, places, f"{path}.{index}") for index, each in enumerate(part)]
        if not read:
            places.say(path, "a list of texts needs one")
            return Text()
        text = read[-1]
        for richer in reversed(read[:-1]):
            text = replace(richer, plainer=text)
        return text

    def rule(self, part: RulePart | None, places: Places, path: str) -> Template | None:
        """A rule; true and false may be written without quotes."""
        if part is None:
            return None
        return self.inline(str(part).lower() if isinstance(part, bool) else part, Kind.RULE, places, path)

    def inline(self, source: str, kind: Kind, places: Places, path: str) -> Template | None:
        """A template or rule that stands in a YAML file; None where it is wrong, which is said."""
        # The text of a block scalar begins on the line below its key.
        return self.template(source, kind, places.file, places.line(path) + ("\n" in source))

    def template(self, source: str, kind: Kind, file: str, line: int = 1) -> Template | None:
        """A template; None where it is wrong, which is said."""
        try:
            conditions = self.conditions if kind is Kind.RULE else None
            return self.templates.read(source, kind=kind, at=file, line=line, conditions=conditions)
        except MessageInvalid as error:
            self.problems.extend((place_of(file, where), problem) for where, problem in error.problems)
            return None

    def _check_languages(self, part: dict[str, str], places: Places, path: str) -> None:
        for language in part:
            if language not in self.languages:
                places.say(f"{path}.{language}", f"{language!r} is none of the playbook's languages")
        missing = [each for each in self.languages if not part.get(each)]
        if missing:
            places.say(path, f"the text is missing in: {', '.join(missing)}")


def place_of(file: str, where: str) -> str:
    """`file:line`, from what an error calls its place."""
    line = where.partition(",")[0].removeprefix("line ")
    return f"{file}:{line}" if line.isdigit() else file
