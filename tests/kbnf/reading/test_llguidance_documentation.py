"""The examples of llguidance's page "Syntax of LLGuidance Grammars": each is read, and has the texts that it says."""

from __future__ import annotations

import json

import pytest

import structgen
from structgen import Grammar, Vocabulary
from structgen.errors import TokenRejectedError

SPECIAL = ["<|python_tag|>", "<|eom_id|>", "<think>", "</think>", "<|ENDOFTEXT|>"]
FIRST = 256
VOCABULARY = Vocabulary.from_bytes(
    {byte: bytes([byte]) for byte in range(256)},
    [FIRST + len(SPECIAL) - 1],
    FIRST + len(SPECIAL),
    special_tokens={name: FIRST + index for index, name in enumerate(SPECIAL)},
)
CALL = """%json {
  "type": "object",
  "properties": {
    "name": { "const": "get_weather" },
    "parameters": { "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] }
  },
  "required": ["name", "parameters"]
}"""
WEATHER = '{"name":"get_weather","parameters":{"city":"Seattle"}}'
ADDRESS = """%json {
    "type": "object",
    "properties": {
        "street": { "type": "string" },
        "city": { "type": "string" },
        "zip": { "type": "number" }
    },
    "required": ["street", "city", "state", "zip"]
}"""
HOME = '{"street":"1 Way","city":"Lyon","zip":69001,"state":"FR"}'
EXAMPLES = {
    "inline schemas": (
        f"start: TEXT | fun_call\nTEXT: /[^{{](.|\\n)*/\nfun_call: {CALL}",
        ["There is no function I can call", WEATHER],
        ['{"name":"other"}', "{"],
    ),
    "special tokens": (
        "start: TEXT | fun_call\nTEXT: /[^{](.|\\n)*/\n"
        f"fun_call: <|python_tag|> json_body <|eom_id|>\njson_body: {CALL}",
        ["Hello", f"<|python_tag|>{WEATHER}<|eom_id|>"],
        [WEATHER, f"<|python_tag|>{WEATHER}"],
    ),
    "brave search": (
        r"""
start: normal_text | brave | wolfram
normal_text: /(.|\n)*/
brave: <|python_tag|> "brave_search.call(query=" JSON_STRING ")" <|eom_id|>
wolfram: <|python_tag|> "wolfram_alpha.call(query=" JSON_STRING ")" <|eom_id|>
JSON_CHAR: /(\\([\"\\\/bfnrt]|u[a-fA-F0-9]{4})|[^\"\\\x00-\x1F\x7F])/
JSON_STRING: "\"" JSON_CHAR* "\""
""",
        ["any\ntext", r'<|python_tag|>wolfram_alpha.call(query="a\u00e9\"b")<|eom_id|>'],
        ['<|python_tag|>brave_search.call(query="a\n")<|eom_id|>'],
    ),
    "thinking": (
        f'start: <think> "\\n" /(.|\\n)*/ </think> address\naddress: {ADDRESS}',
        [f"<think>\nSo …\nGood.</think>{HOME}"],
        [f"So</think>{HOME}", f"<think>\n{HOME}"],
    ),
    "begun thinking": (
        f"start: /(.|\\n){{3,10}}/ </think> address\naddress: {ADDRESS}",
        [f"Good.</think>{HOME}"],
        [f"No</think>{HOME}", f"Much too long</think>{HOME}"],
    ),
    "attributes": (
        'start: mygen "\\n" "." \nmygen[stop="\\n", max_tokens=10, temperature=0.7]: /.*/',
        ["thought\n.", "\n."],
        ["a\nb\n.", "more than ten tokens\n."],
    ),
    "lazy digit": ('start: foo "!"\nfoo[lazy]: /[0-9]+/', ["1!"], ["12!"]),
    "lazy nothing": ('start: foo "!"\nfoo[lazy]: /.*/', ["!"], ["a!"]),
    "stop": (
        'start: outer_stop\nouter_stop[capture]: with_stop "<end>"\nwith_stop[stop="<end>"]: /.*/',
        ["foo<end>"],
        [],
    ),
    "suffix": (
        'start: with_suffix "bar"\nwith_suffix[capture, suffix="<end>"]: /.*/',
        ["foo<end>bar"],
        ["foo<end><end>bar"],
    ),
    "tool calling": (
        r"""
start: ( f_foo | f_bar )* f_end
f_end: TEXT
TEXT: /(.|\n)*/

f_foo_hd[lazy]: TEXT "<function"
f_foo: f_foo_hd "=foo>" %json { "type": "object" } "</function>"

f_bar_hd[lazy]: TEXT "<function"
f_bar: f_bar_hd "=bar>" /[0-9]+/ "</function>"
""",
        ["text only", 'a <function=foo>{"b":1}</function>\n<function=bar>12</function> end'],
        ["a <function=baz>", "a <function=bar>x"],
    ),
    "and, not": (
        "start: ASCII_LINES\nASCII_LINES: /[a-zA-Z \\n]*/ & ~/(?s:.*)\\n\\n(?s:.*)/",
        ["a\nb\n", ""],
        ["a\n\nb", "1"],
    ),
    "not in text": ("start: A\nA: /(?s:.*)/ & ~/(?s:.*)AAA(?s:.*)/", ["AA\nA"], ["xAAAx"]),
    "integers": (
        'start: INT\n// INT is equivalent to /(-)?[0-9]+/\nINT: "-"? UINT\nUINT: DIGIT+\nDIGIT: /[0-9]/',
        ["-12"],
        ["-"],
    ),
    "chunks": (
        'start: %regex { "substring_chunks": ["abc", "de", "fg"] }',
        ["", "abc", "de", "abcde", "defg", "abcdefg"],
        ["ab", "cde", "abcfg"],
    ),
    "words": ('start: %regex { "substring_words": "foo bar. baz" }', ["foo bar", ". ", "baz"], ["fo", "foo."]),
    "characters": ('start: %regex { "substring_chars": "ab c" }', ["b c", "a"], ["bc"]),
    "skip once": (
        '%llguidance { "skip_repetition": "once" }\n%ignore /[ \\t]{1,8}/\nstart: "A" "!"',
        ["A!", "A        !"],
        ["A         !"],
    ),
    "forcing": ('%llguidance { "no_forcing": true }\nstart: "a"', ["a"], ["b"]),
    "empty options": ('%llguidance {}\nstart: "a"', ["a"], ["b"]),
    "identifiers": (
        "start: IDENTIFIER\nID_START: /[a-zA-Z_]/\nID_CHAR: /[a-zA-Z0-9_]/\nIDENTIFIER: ID_START ID_CHAR*",
        ["_a1"],
        ["1a"],
    ),
    "expressions": (
        'start: expr\nexpr: expr "+" term | term\nterm: term "*" factor | factor\n'
        'factor: "(" expr ")" | NUMBER\nNUMBER: /[0-9]+/',
        ["1+2*(3+4)"],
        ["1+"],
    ),
    "several grammars": (
        json.dumps(
            {
                "grammars": [
                    {"lark_grammar": "start: /(.|\\n)*/ | fun\nfun: <|python_tag|> @fcall <|eom_id|>"},
                    {"name": "fcall", "json_schema": {"type": "object", "required": ["a"]}},
                ]
            }
        ),
        ["text", '<|python_tag|>{"a":1}<|eom_id|>'],
        ["<|python_tag|>{}<|eom_id|>"],
    ),
    "temperature of a grammar": (
        json.dumps(
            {
                "grammars": [
                    {"lark_grammar": 'start: "<" my_temp_json ">"\nmy_temp_json[temperature=0.7]: @my_json'},
                    {"name": "my_json", "json_schema": {"type": "boolean"}},
                ]
            }
        ),
        ["<true>"],
        ["<1>"],
    ),
    "schemas in a choice": (
        'start: a | b\na: %json { "const": {"x": 1} }\nb: %json { "const": {"y": 2} }',
        ['{"x":1}', '{"y":2}'],
        ['{"x":2}'],
    ),
}


def fits(constraint: structgen.Constraint, text: str) -> bool:
    """Read a text; the names of special tokens in it are these tokens."""
    matcher = constraint.matcher()
    at = 0
    try:
        while at < len(text):
            name = next((name for name in SPECIAL if text.startswith(name, at)), None)
            if name is not None:
                matcher.accept_token(VOCABULARY.special_tokens[name])
                at += len(name)
                continue
            for byte in text[at].encode():
                matcher.accept_token(byte)
            at += 1
    except TokenRejectedError:
        return False
    return matcher.is_accepting


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example(name):
    grammar, valid, invalid = EXAMPLES[name]
    constraint = structgen.compile(Grammar.lark(grammar), VOCABULARY)
    for text in valid:
        assert fits(constraint, text), text
    for text in invalid:
        assert not fits(constraint, text), text
