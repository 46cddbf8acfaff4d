"""Reading of JSON Schema: keywords and references as sets of values.

In the order of imports, each module using those before it:

    plain_data, shared_parts              schemas in Python's own types; their size as text
    dialects, scopes, resources, refs     drafts; locations; schemas by URI; the targets of references
    number_keywords, substrings, keywords keywords about single types
    grammars, key_classes                 `x-structgen-grammar`; disjoint classes of keys
    nodes, evaluation                     nodes as keywords see them; what a subschema evaluates
    tags, tagged_branches, tagged_pairs   alternatives with constants that tell them apart
    intersections, applicators            keywords that combine subschemas
    told_apart                            `oneOf` beside such constants
    formulas, equations, fixed_points     subschemas that refer to themselves at the same value
    distinct_items, emptiness             which sets of arrays and objects have members
    membership, sizes                     whether a value is in a node; how many values nodes have, and which
    shape_cache, widening                 shared shapes; `lenient=True`
    excluded_texts, writable              strings without some texts; those that a tokenizer can spell
    atoms, simple_nodes                   subschemas, numbered; shorter names for simple ones
    space                                 the nodes of a document and their shapes
    exploration                           the nodes that a schema reaches
"""
