"""Reading of JSON Schema: keywords and references as sets of values.

In the order of imports, each module using those before it:

    plain_data, shared_parts              schemas in Python's own types; their size as text
    dialects, scopes, resources, refs     drafts; locations; schemas by URI; the targets of references
    number_keywords, substrings, keywords keywords about single types
    nodes, evaluation, applicators        keywords that combine subschemas
    tags, told_apart                      alternatives with constants that tell them apart; `oneOf` beside them
    distinct_items, emptiness             which sets of arrays and objects have members
    sizes                                 how many values nodes have, and which
    shape_cache, widening                 shared shapes; `lenient=True`
    excluded_texts, writable              strings without some texts; those that a tokenizer can spell
    space                                 the nodes of a document and their shapes
    exploration                           the nodes that a schema reaches
"""
