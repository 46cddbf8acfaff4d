"""The spelling of JSON values in block-style YAML: regexes of scalars and keys, and a reader of texts.

characters   the characters that YAML texts may contain, and texts that readers take for other types
scalars      regexes of strings, numbers and literals, in the plain, double-quoted and block styles
keys         regexes and spellings of keys
reader       from YAML text to JSON text, by PyYAML
writer       from JSON data to YAML text
"""
