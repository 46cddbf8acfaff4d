"""Parsing of regexes in the syntax of ECMA-262, Python and Rust, and the resolution of assertions.

Read `parser` first. `assertions` turns anchors, look-ahead and look-behind into plain regexes.
"""
