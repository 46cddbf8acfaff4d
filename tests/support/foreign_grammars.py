"""Grammars as people write them for llama.cpp and for Lark, with texts that belong to them and texts that do not."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["GBNF", "LARK", "Foreign"]


class Foreign(NamedTuple):
    text: str
    valid: tuple[str, ...]
    invalid: tuple[str, ...]


GBNF = {
    "json": Foreign(
        r"""
# JSON; white space is short
root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws ( pair ("," ws pair)* )? "}" ws
pair   ::= string ":" ws value
array  ::=
  "[" ws (
            value
    ("," ws value)*
  )? "]" ws
string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) )* "\"" ws   # escapes
number ::= ("-"? ("0" | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9]{1,3})? ws
ws ::= | " " | "\n" [ \t]{0,20}
""",
        ('{"a": [1, -2.5e+7, {}]}', "{}", '{"é\\u00e9": "\\n"\n  }'),
        ("[]", '{"a": 01}', '{"a"  : 1}'),
    ),
    "arithmetic": Foreign(
        r"""
root  ::= (expr "=" ws term "\n")+
expr  ::= term ([-+*/] ws term)*
term  ::= ident | num | "(" ws expr ")" ws
ident ::= [a-z] [a-z0-9_]* ws
num   ::= [0-9]+ ws
ws    ::= [ \t\n]*
""",
        ("a = b\n", "(x1 + 2)*3= y\n7=7\n"),
        ("a = b", "a+ = 1\n"),
    ),
    "list": Foreign(
        r"""root ::= item+
# no line break of any kind
item ::= "- " [^\r\n\x0b\x0c\x85\u2028\u2029]+ "\n"
""",
        ("- milk\n- \U0001f95a\n",),
        ("- \n", "- a\u2028b\n"),
    ),
    "chess": Foreign(
        r"""
root    ::= "1. " move " " move "\n" ([1-9] [0-9]? ". " move " " move "\n")+
move    ::= (pawn | nonpawn | castle) [+#]?
nonpawn ::= [NBKQR] [a-h]? [1-8]? "x"? [a-h] [1-8]
pawn    ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBKQR])?
castle  ::= "O-O" "-O"?
""",
        ("1. e4 e5\n2. Nf3 Nc6\n", "1. e4 d5\n2. exd5 Qxd5+\n3. O-O O-O-O#\n"),
        ("1. e4 e5\n", "1. e4 e5\n2. Nf9 a3\n"),
    ),
    "statements": Foreign(
        r"""
root ::= statement+
statement ::= "if" sp "(" expression ")" sp block ("else" sp block)? | name sp "=" sp expression ";" |
    "while" "(" expression ")" block | "//" .{0,12} "\n"
block ::= "{" statement* "}"
expression ::= term ( ("+" | "-" | "==") term )*
term ::= name | [0-9]{1,9} | "(" expression ")"
name ::= [a-zA-Z_] [a-zA-Z_0-9]{0,11}
sp ::= " "?
""",
        ("x=1;", "if (a==b) {y = (y+1);}else {}", "while(x){//...\n}"),
        ("if (a) x=1;", "1=x;"),
    ),
    "escapes": Foreign(
        'root ::= "\\x41\\u00e9\\U0001F600\\t\\"" [^\\]\\[\\-a-c^]{2} [-+] [+-] ""\nhira-gana ::= [ぁ-ゟ]',
        ('Aé\U0001f600\t"xy-+', 'Aé\U0001f600\t"dé+-'),
        ('Aé\U0001f600\t"x]-+', 'Aé\U0001f600\t"^y-+', 'Aé\U0001f600\t"xyz+'),
    ),
}

LARK = {
    "calculator": Foreign(
        r"""
// Sums and products.
?start: sum
?sum: product
    | sum "+" product   -> add
    | sum "-" product   -> sub
?product: atom
    | product "*" atom  -> mul
?atom: NUMBER           -> number
     | "-" atom         -> neg
     | NAME
     | "(" sum ")"
NAME: /[a-z_]+/
NUMBER: DIGITS ["." DIGITS]
DIGITS: "0".."9"+
WS: /[ \t]+/
%ignore WS
""",
        ("1+2*x", "1 + ( 2.5*-x )  ", "--1"),
        ("1+", "1 2", "(1", ""),
    ),
    "json": Foreign(
        r"""
start: value
value: object | array | STRING | NUMBER | "true" | "false" | "null"
array: "[" [value ("," value)*] "]"
object: "{" [pair ("," pair)*] "}"
pair: STRING ":" value
STRING: "\"" (/[^"\\\x00-\x1f]/ | "\\" /["\\\/bfnrt]/)* "\""
NUMBER: /-?(0|[1-9][0-9]{0,15})(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?/
%ignore /[ \t\r\n]{1,8}/
""",
        ('{"a": [1, -2.5e+7, {}]}', "[ ] ", '"\\n"'),
        ('{"a" 1}', "[1,]", '"'),
    ),
    "imports": Foreign(
        r"""
%import common.INT -> NUMBER
%import common (CNAME, WS_INLINE, ESCAPED_STRING)
start: "let"i CNAME "=" (NUMBER | ESCAPED_STRING) ";"
%ignore WS_INLINE
""",
        ("LET x = 12 ;", 'let y="a\\"b";'),
        ("let x = ;", "let 1 = 1;"),
    ),
    "counts": Foreign(
        r"""
start: "a"~2 "b"~1..3 ("c" "d")~0..1 EF
EF: "e"~2..3 "f"?
""",
        ("aabee", "aabbbcdeeef"),
        ("abee", "aabbbbee", "aabe"),
    ),
}
