"""Structural tags: texts between marks, in the JSON form that xgrammar and vLLM define.

fields      reads the keys of one JSON object, with errors that name its location
free_text   the regexes of free text: up to a mark, without excluded texts
reading     the grammar of a whole structural tag
tags        the types that are made of tags: `tag`, `triggered_tags`, `tags_with_separator`, `dispatch`
"""
