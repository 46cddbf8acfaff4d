"""The structural tag of some tools, in the format of a model family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias

from structgen.errors import GrammarError
from structgen.output_types.tool_formats.families import FAMILIES, Family, Thinking
from structgen.output_types.tool_formats.more_families import MORE_FAMILIES
from structgen.output_types.tool_formats.tools import Tool, may_be_empty

__all__ = ["TOOL_FORMATS", "Mode", "structural_tag_of"]

Mode: TypeAlias = Literal["enabled", "disabled", "auto", "outside"]
"""Whether the text begins with reasoning: it must, it must not, the model chooses, or reasoning is no part of it."""

Format: TypeAlias = dict[str, Any]

_GIVEN = {"NUMBER": r"\d+", "CALL_ID": r"[\w.-]{1,64}"}
"""Parts of a begin mark that the model chooses, as regexes."""

_MODES = ("enabled", "disabled", "auto", "outside")


def structural_tag_of(
    tools: Sequence[Tool], format: str, tool_choice: str | Format, reasoning: Mode, parallel: bool
) -> Format:
    """Return the structural tag of some tools in a format. See `Grammar.tool_calls`.

    The schemas in it are `BoundSchema`s, not JSON data.

    Raises:
        GrammarError: the format, the tool choice or the reasoning mode is unknown; or a call is required, and there are
            no tools.
    """
    build = _BUILDERS.get(format)
    if build is None:
        close = get_close_matches(format, TOOL_FORMATS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"one of {', '.join(TOOL_FORMATS)}"
        raise GrammarError(f"the format {format!r} is unknown", hint=hint)
    if reasoning not in _MODES:
        raise GrammarError(f"reasoning is one of {', '.join(map(repr, _MODES))}, not {reasoning!r}")
    chosen, choice = _chosen(tools, tool_choice)
    return {"type": "structural_tag", "format": build(chosen, choice, reasoning, parallel)}


def _chosen(tools: Sequence[Tool], tool_choice: str | Format) -> tuple[Sequence[Tool], str]:
    """Return the tools that may be called, and "auto", "required" or "forced"."""
    name = tool_choice["function"]["name"] if isinstance(tool_choice, dict) else tool_choice
    by_name = {tool.name: tool for tool in tools}
    if name == "none":
        return (), "auto"
    if name in ("auto", "required"):
        if name == "required" and not tools:
            raise GrammarError("a call is required, and there are no tools", hint="give tools, or tool_choice='none'")
        return tools, name
    if name not in by_name:
        known = ", ".join(map(repr, by_name)) or "none"
        raise GrammarError(
            f"tool_choice names {name!r}, which is no tool", hint=f"'auto', 'required', 'none' or a tool: {known}"
        )
    return (by_name[name],), "forced"


# --- parts -----------------------------------------------------------------------------------------------------------


def _text(value: str) -> Format:
    return {"type": "const_string", "value": value}


def _any_text(excludes: Sequence[str]) -> Format:
    return {"type": "any_text", "excludes": list(excludes)}


def _sequence(*elements: Format) -> Format:
    return elements[0] if len(elements) == 1 else {"type": "sequence", "elements": list(elements)}


def _tag(begin: str, content: Format, end: str | list[str]) -> Format:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def _separated(tags: list[Format], separator: str, *, at_least_one: bool, parallel: bool = True) -> Format:
    return {
        "type": "tags_with_separator",
        "tags": tags,
        "separator": separator,
        "at_least_one": at_least_one,
        "stop_after_first": not parallel,
    }


def _call_of(family: Family, tool: Tool) -> Format:
    """Return the tag of a call in a format of calls between marks; the model may write an id."""
    tag = _call(tool, family.begin, family.end, family.style)
    if family.id_after:
        tag["content"] = _sequence(tag["content"], _optional_id(family.id_after))
    if family.id_before:
        before, _, after = family.begin.partition("NAME")
        content = _sequence(_optional_id((family.id_before, "")), _text(after), tag["content"])
        tag = _tag(before + tool.name, content, family.end)
    return tag


def _optional_id(marks: tuple[str, str]) -> Format:
    """Return an id of nine letters and digits between two marks, which may be left out."""
    given = {"type": "regex", "pattern": "[a-zA-Z0-9]{9}"}
    closing = [_text(marks[1])] if marks[1] else []
    return {"type": "optional", "content": _sequence(_text(marks[0]), given, *closing)}


def _call(tool: Tool, begin: str, end: str, style: str, excludes: Sequence[str] = ()) -> Format:
    """Return the tag of a call."""
    arguments: Format = {"type": "json_schema", "json_schema": tool.bound, "style": style, "excludes": list(excludes)}
    before, given, after = next((parts for mark in _GIVEN if (parts := begin.partition(mark))[1]), (begin, "", ""))
    content = [arguments]
    if given:
        content = [{"type": "regex", "pattern": _GIVEN[given]}, _text(after.replace("NAME", tool.name)), arguments]
    elif style != "json" and before[-1:] == end[:1] == "\n" and may_be_empty(tool.bound.schema):
        # Without arguments, the line breaks at both ends are one in chat templates.
        before, end, content = before[:-1], end[1:], [_between_lines(arguments)]
    return _tag(before.replace("NAME", tool.name), _sequence(*content), end)


def _between_lines(arguments: Format) -> Format:
    """Return arguments between two line breaks, or one line break."""
    line = _text("\n")
    return {"type": "or", "elements": [_sequence(line, arguments, line), line]}


def _thinking(thinking: Thinking | None, reasoning: Mode) -> list[Format]:
    """Return the reasoning before an answer; nothing where there is none."""
    if thinking is None or reasoning == "outside":
        return []
    if reasoning == "disabled":
        return [_text(thinking.skipped)] if thinking.skipped else []
    is_opened = reasoning == "enabled"
    excludes = thinking.excludes
    if is_opened and thinking.excludes_opened is not None:
        excludes = thinking.excludes_opened
    begin = "" if is_opened and thinking.opened_by_prompt else thinking.begin
    block = _tag(begin, _any_text(excludes), thinking.end)
    if thinking.after:
        block = _sequence(block, _text(thinking.after))
    if is_opened:
        return [block]
    if thinking.may_only_end:
        block = {"type": "or", "elements": [block, _text(thinking.end)]}
    return [{"type": "optional", "content": block}]


# --- calls in free text ----------------------------------------------------------------------------------------------


def _in_text(family: Family) -> Callable[[Sequence[Tool], str, Mode, bool], Format]:
    """Return the function that builds the structural tag of a family."""

    def build(tools: Sequence[Tool], choice: str, reasoning: Mode, parallel: bool) -> Format:
        return _sequence(*_thinking(family.thinking, reasoning), _answer(family, tools, choice, parallel))

    return build


def _answer(family: Family, tools: Sequence[Tool], choice: str, parallel: bool) -> Format:
    """Return free text and calls, after the reasoning."""
    if not tools:
        return _any_text(family.excludes if family.excludes_alone is None else family.excludes_alone)
    tags = [_call_of(family, tool) for tool in tools]
    trigger = family.trigger or family.begin.partition("NAME")[0]
    if family.section is not None:
        opening, closing = family.section
        trigger = family.trigger or opening
        several = _separated(tags, family.separator, at_least_one=True, parallel=parallel)
        content = tags[0] if choice == "forced" else several
        if family.may_have_blank:
            rest = opening.removeprefix(trigger)
            opening, content = trigger, _sequence({"type": "optional", "content": _text(" ")}, _text(rest), content)
        if choice == "forced" or (choice == "required" and not family.text_before):
            return _sequence(_text(family.lead + opening), content, _text(closing))
        tags = [_tag(opening, content, closing)]
    elif choice == "forced":
        return tags[0]
    return {
        "type": "triggered_tags",
        "triggers": [trigger],
        "tags": tags,
        "excludes": list(family.excludes),
        "at_least_one": choice == "required",
        "stop_after_first": not parallel,
    }


# --- messages in channels --------------------------------------------------------------------------------------------


def _harmony(tools: Sequence[Tool], choice: str, reasoning: Mode, parallel: bool) -> Format:
    """Return the messages of gpt-oss: analysis, commentary with calls, and the final answer."""
    calls: list[Format] = []
    for tool in tools:
        for begin in (
            "<|channel|>commentary to=functions.NAME<|constrain|>json<|message|>",
            " to=functions.NAME<|channel|>commentary <|constrain|>json<|message|>",
            " to=functions.NAME<|channel|>commentary json<|message|>",
        ):
            calls.append(_call(tool, begin, "<|call|>", "json"))
    channels = [*(["final"] if choice == "auto" else []), *(["analysis"] if reasoning in ("enabled", "auto") else [])]
    messages = [
        _tag(f"<|channel|>{channel}<|message|>", _any_text(()), ["<|end|>", "<|return|>"]) for channel in channels
    ]
    between = "<|start|>assistant"
    is_one = not parallel or (choice == "forced" and reasoning == "outside")
    if not is_one or not calls:
        # With reasoning, it is xgrammar's form, in which calls are never required, and a named tool may have several.
        return _separated([*calls, *messages], between, at_least_one=reasoning == "outside" and choice != "auto")
    # Any number of messages, and then one call at most, which ends the turn.
    one_call = _separated(calls, between, at_least_one=True, parallel=False)
    if not messages:
        return one_call if reasoning == "outside" else {"type": "optional", "content": one_call}
    before = _separated(messages, between, at_least_one=True)
    ways = [_separated(messages, between, at_least_one=False), one_call, _sequence(before, _text(between), one_call)]
    return {"type": "or", "elements": ways}


_K3_EXCLUDES = ("<|open|>", "<|close|>")


def _kimi_k3(tools: Sequence[Tool], choice: str, reasoning: Mode, parallel: bool) -> Format:
    """Return the blocks of Kimi K3: think, response, tools."""
    calls = [
        _call(
            tool,
            '<|open|>call tool="NAME" index="NUMBER"<|sep|>',
            "<|close|>call<|sep|>",
            "kimi_k3_xml",
            (*_K3_EXCLUDES, "<|sep|>"),
        )
        for tool in tools
    ]
    thinking = Thinking("<|open|>think<|sep|>", "<|close|>think<|sep|>", excludes=_K3_EXCLUDES)
    begin = "" if reasoning in ("disabled", "outside") else "<|open|>response<|sep|>"
    parts = [*_thinking(thinking, reasoning), _tag(begin, _any_text(_K3_EXCLUDES), "<|close|>response<|sep|>")]
    if calls:
        content = calls[0] if choice == "forced" else _separated(calls, "", at_least_one=True, parallel=parallel)
        section = _tag("<|open|>tools<|sep|>", content, "<|close|>tools<|sep|>")
        parts.append({"type": "optional", "content": section} if choice == "auto" else section)
    return _sequence(*parts, _text("<|close|>message<|sep|>"))


def _solar(tools: Sequence[Tool], choice: str, reasoning: Mode, parallel: bool) -> Format:
    """Return a message of Solar: its content, or calls."""
    content = _tag("<|content|>", _any_text(()), "<|end|>")
    calls = [
        _call(tool, "<|tool_call:begin|>CALL_ID<|tool_call:name|>NAME<|tool_call:args|>", "<|tool_call:end|>", "json")
        for tool in tools
    ]
    before = _thinking(Thinking("<|think|>", "<|end|>", after="<|begin|>assistant", excludes=()), reasoning)
    if not calls:
        return _sequence(*before, content)
    several = _separated(calls, "", at_least_one=True, parallel=parallel and choice != "forced")
    section = _tag("<|tool_calls|>", several, "<|calls|>")
    return _sequence(*before, {"type": "or", "elements": [content, section]} if choice == "auto" else section)


_MUSE_MARKS = ("<|start|>", "<|message|>", "<|eom|>", "<|eot|>")


def _muse_glimmer(tools: Sequence[Tool], choice: str, reasoning: Mode, parallel: bool) -> Format:
    """Return the messages of Muse Glimmer after `<|start|>assistant`: to itself, to the user, and to each tool.

    Raises:
        GrammarError: a tool is called as a recipient that is none.
    """
    for tool in tools:
        if tool.name in ("self", "user"):
            raise GrammarError(f"in the format 'muse_glimmer' a tool cannot be called {tool.name!r}: it is a recipient")
    between = "<|eom|><|start|>assistant"
    thinking = Thinking(" to=self<|message|>", between, excludes=_MUSE_MARKS, opened_by_prompt=False)
    before, end = _thinking(thinking, reasoning), _text("<|eot|>")
    said = _sequence(_text(" to=user<|message|>"), _any_text(_MUSE_MARKS))
    begin = ' to=NAME<|message|><atem:function_calls>\n<atem:invoke name="NAME">\n'
    closing = "</atem:invoke>\n</atem:function_calls>"
    calls = [_call(tool, begin, closing, "atem_xml") for tool in tools]
    if not calls:
        return _sequence(*before, said, end)
    several = _separated(calls, between, at_least_one=True, parallel=parallel and choice != "forced")
    if choice != "auto":
        return _sequence(*before, several, end)
    after_text = {"type": "optional", "content": _sequence(_text(between), several)}
    return _sequence(*before, {"type": "or", "elements": [_sequence(said, after_text), several]}, end)


def _functionary(tools: Sequence[Tool], choice: str, reasoning: Mode, parallel: bool) -> Format:
    """Return the messages of Functionary 3.2, after the `>>>` of the prompt: a text, and calls."""
    text = _sequence(_text("all\n"), _any_text([">>>"]))
    if not tools:
        return text
    calls = [_call(tool, "NAME\n", "", "json") for tool in tools]
    several = _separated(calls, ">>>", at_least_one=True, parallel=parallel and choice != "forced")
    if choice != "auto":
        return several
    after_text = {"type": "optional", "content": _sequence(_text(">>>"), several)}
    return {"type": "or", "elements": [_sequence(text, after_text), several]}


# --- calls and nothing else -------------------------------------------------------------------------------------------


def _alone(name: str, begins: Callable[[Tool], str]) -> Callable[[Sequence[Tool], str, Mode, bool], Format]:
    """Return the function that builds the structural tag of text, or of calls with nothing around them.

    Args:
        name: the format, one of `MORE_FAMILIES`.
        begins: returns a text that a call of a tool begins with, which no text holds.
    """
    family = MORE_FAMILIES[name]
    opening, closing = family.section or ("", "")

    def build(tools: Sequence[Tool], choice: str, reasoning: Mode, parallel: bool) -> Format:
        if not tools:
            return _any_text(())
        tags = [_call(tool, family.begin, family.end, family.style) for tool in tools]
        several = _separated(tags, family.separator, at_least_one=True, parallel=parallel)
        calls = tags[0] if choice == "forced" else several
        if family.section is not None:
            calls = _sequence(_text(opening), calls, _text(closing))
        if choice != "auto":
            return calls
        excludes = sorted({begins(tool) for tool in tools})
        return {"type": "or", "elements": [_any_text(excludes), calls]}

    return build


_BUILDERS: dict[str, Callable[[Sequence[Tool], str, Mode, bool], Format]] = {
    **{name: _in_text(family) for name, family in {**FAMILIES, **MORE_FAMILIES}.items()},
    "json": _alone("json", lambda tool: MORE_FAMILIES["json"].trigger),
    "pythonic": _alone("pythonic", lambda tool: f"[{tool.name}("),
    "functionary_3_2": _functionary,
    "harmony": _harmony,
    "muse_glimmer": _muse_glimmer,
    "solar": _solar,
    "kimi_k3": _kimi_k3,
}

TOOL_FORMATS: tuple[str, ...] = tuple(sorted(_BUILDERS))
"""The names of all formats."""
