"""Structural tags: texts between marks, in the JSON form that xgrammar and vLLM define.

    reading     the grammar of a whole structural tag
    basic       the types without marks
    tags        the types that are made of tags: `tag`, `triggered_tags`, `tags_with_separator`, `dispatch`
    tokens      the types that are made of tokens
    reader      the rules and schemas so far
    fields      reads the keys of one JSON object, with errors that name its location

docs/structural-tags.md has the types.
"""
