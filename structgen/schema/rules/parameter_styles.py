r"""Notations of a call's arguments that are not JSON, as data.

An object is one element for each property. A string is written as it is, every other value as JSON; in some notations
objects and lists are elements, too:

    qwen_xml        <parameter=city>\nLyon\n</parameter>
    deepseek_xml    <｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>
    cohere_xml      <cofl:value name="tags" type="list"><cofl:value type="raw">a</cofl:value></cofl:value>

The marks are those of xgrammar 0.2.8, but for `atem_xml`, `gcml_xml`, `hunyuan_xml`, `minicpm_xml` and `seed_xml`,
which it does not have.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

__all__ = ["KINDS", "MARKS", "STYLES", "Kind", "Style"]

Kind: TypeAlias = Literal["string", "number", "boolean", "null", "array", "object"]
"""The JSON type of a value."""

KINDS: tuple[Kind, ...] = ("string", "number", "boolean", "null", "array", "object")


@dataclass(frozen=True, slots=True)
class Style:
    """A notation of elements.

    Attributes:
        before_key, after_key: the text around the name of a property.
        open: by type of the value, the text between `after_key` and the value. Where `opens_after_gap`, white space may
            stand before it.
        close: the text after a value. KEY in it stands for the name of the property.
        mark: the text that no string may hold; by default `close`.
        item: the text before `open` of an item of a list; None where lists are JSON.
        item_name: the name of an item, for `close`.
        opens_after_gap: see `open`.
        trims_line_breaks: whether a reader removes one line break at each end of a string.
        has_gaps: whether white space may stand beside a value that is no string.
        gap_between_items: whether white space may follow an item of a list.
        has_sections: whether a string with `<`, `&` or a line break stands in a section, `<![CDATA[…]]>`.
        names: whether other keys than the declared ones can be written.
    """

    before_key: str
    after_key: str
    close: str
    open: dict[str, str] = field(default_factory=dict)
    mark: str = ""
    item: str | None = None
    item_name: str = ""
    opens_after_gap: bool = False
    trims_line_breaks: bool = False
    has_gaps: bool = True
    gap_between_items: bool = False
    has_sections: bool = False
    names: bool = True

    @property
    def texts(self) -> tuple[str, ...]:
        """All marks."""
        return self.before_key, self.after_key, self.close, *self.open.values(), self.item or ""

    def opening(self, kind: Kind) -> str:
        """Return the text before a value of a type."""
        return self.open.get(kind, self.open.get("", ""))

    def closing(self, name: str) -> str:
        """Return the text after the value of a property."""
        return self.close.replace("KEY", name)

    @property
    def unspelled(self) -> str:
        """The text that no string may hold."""
        return self.mark or self.close


def _dsml(parameter: str, *, tag: str = "DSML") -> Style:
    return Style(
        before_key=f'<｜{tag}｜{parameter} name="',
        after_key='"',
        open={"string": ' string="true">', "": ' string="false">'},
        close=f"</｜{tag}｜{parameter}>",
    )


MARKS = {"gemma": '<|"|>', "function_gemma": "<escape>"}
"""The mark before and after a string, in the notations of `call_notations` that have one."""

STYLES: dict[str, Style] = {
    "qwen_xml": Style("<parameter=", ">", "</parameter>", trims_line_breaks=True),
    "seed_xml": Style("<parameter=", ">", "</parameter>"),
    "minimax_xml": Style('<parameter name="', '">', "</parameter>"),
    "atem_xml": Style('<atem:parameter name="', '">', "</atem:parameter>"),
    "deepseek_xml": _dsml("parameter"),
    "deepseek_v4_1_xml": _dsml(" parameter"),
    "gcml_xml": _dsml("parameter", tag="GCML"),
    "glm_xml": Style("<arg_key>", "</arg_key>", "</arg_value>", open={"": "<arg_value>"}, opens_after_gap=True),
    "hunyuan_xml": Style(
        "<arg_key:opensource>",
        "</arg_key:opensource>",
        "</arg_value:opensource>",
        open={"": "<arg_value:opensource>"},
        opens_after_gap=True,
    ),
    "minicpm_xml": Style('<param name="', '">', "</param>", mark="]]>", has_sections=True),
    "kimi_k3_xml": Style(
        before_key='<|open|>argument key="',
        after_key='"',
        open={kind: f' type="{kind}"<|sep|>' for kind in KINDS},
        close="<|close|>argument<|sep|>",
    ),
    "cohere_xml": Style(
        before_key='<cofl:value name="',
        after_key='"',
        open={
            "string": ' type="raw">',
            "": ' type="json">',
            "object": ' type="dict">',
            "array": ' type="list">',
        },
        close="</cofl:value>",
        item="<cofl:value",
    ),
    "minimax_m3_xml": Style(
        before_key="]<]minimax[>[<",
        after_key=">",
        close="]<]minimax[>[</KEY>",
        mark="]<]minimax[>[",
        item="]<]minimax[>[<item>",
        item_name="item",
        has_gaps=False,
        gap_between_items=True,
        names=False,
    ),
}
"""The notations by name."""
