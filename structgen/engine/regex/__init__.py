"""Syntax trees of regexes over bytes and Unicode characters."""
