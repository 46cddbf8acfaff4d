r"""Token masks: for an item set and the trie of a vocabulary, one bit for each token that may come next.

This page says which module answers which question, in the order in which they are asked. There are three layers:

    a mask of an item set  <-  tables of its automaton states  <-  walks over the trie
    `set_masks`                `terminal_masks`                    `token_walks`

A *table* says what an automaton state does with each token. For the state after the opening quote of a JSON string:

    he      *inside*: the automaton reads the token to its last byte
    he"     inside: the string ends at the last byte
    he",    has an *exit*: the string ends within the token, at `"`. The *remainder* `,` is left for the next terminal
    he\     inside: the next token may complete the escape
    he\q    in no list: the automaton refuses it

**1. The mask of an item set** (`SetMasks.get`). It is made once, and kept.

    question                                            module               example
    Is the mask the same whatever was captured?         `set_masks`          the first of several items that must differ
    For each automaton state of the items:
      Which tokens are inside?                          `terminal_masks`     nearly all, in a string
      Which remainders may follow? If the rules serve
      many texts, by dotted rule:                       `dotted_rule_masks`  `);` after a name, in Java
        Which terminals may begin there?                `left_corners`       a name begins a sum, a product, a call
        Were these nodes followed before?               `followed_nodes`     `abc`, read as one name, two or three
      else by the item set after the terminal:          `set_masks`          `,` after a value, in a schema
        It has very many items: all items at once       `SetWalk`, there     200 optional keys
      Which tokens complete a refused text?             `refused_texts`      `d"` after `"i`, if there is a key `id`
    Which tokens depend on what they capture?           `set_masks`          `1,1`, if items must differ; the grammar
                                                                             reads each of these tokens

**2. The table of an automaton state** (`TerminalMasks._make`). The first module that has an answer gives it. C is what
is counted, such as a character, and R what follows, such as the closing quote. `&` is "and also", `~` is "not".

    question                                            module               example
    Is a bound too large to matter, by its form?        `ample_bounds`       at most 1000 characters & ~`foo|bar`
    Is it too large, as an earlier walk has seen?       `bound_room`         `(\S+\s+){0,99}\S+"` after a letter
    A few bytes C before a literal or a set of bytes?   `terminal_masks`     `[ \n]{0,8}"key"`
    C{m,n} R? One index has the tokens by their count.  `counted_masks`      `[a-z]{3,8}"` and `[a-z]{0,5}"`
    A union with a repetition? Both tables together.    `terminal_masks`     `.*ab.*"` after `a`: that, or `b.*"`
    Does it refuse a bounded repetition?                `refused_bounds`     a key & ~`foo|bar` & ~`[a-z]{1,64}`
    Is it nearly like a state that has a table?         `difference_walk`    `.*ab.*"` & `.*cd.*"`, after `a`
    A least count & more? One index for all counts.     `least_counts`       12 characters or more & has a digit
    A bound & more? A walk, or one index for all.       `counted_masks`      at most 20 characters & has a digit
    Anything else                                       `token_walks`        a literal, a union of literals

`ample_bounds` is a module of `engine/automata/`. Some questions are asked only of *wide* states: more than a quarter of
the trie's nodes come below bytes that begin texts of the state (`first_bytes`).

**3. A walk over the trie.** It goes from node to node with the automaton. It is fast where it leaves out subtrees:

    question                                            module               example
    Which characters come below a node?                 `character_kinds`    below `a`: letters and quotes
    Do these keep all tokens there inside?              `skippable_states`   only letters, in a string
      Do refused texts need others?                     `needed_kinds`       `boat` has no `f`, if `foo` is refused
      Do they never leave a set of states?              `closed_states`      letters, in `([a-z][a-z])+!`
    Do the characters and lengths of tokens decide?     `decided_subtrees`   13 letters, if 12 are allowed
    At which nodes may a text leave the state at all?   `leaving_nodes`      those of `f` and `"`, if `foo` is refused
    At which nodes does a walk of remainders begin?     `next_bytes`         those of `(` after all ends of names
    Are the remainders of many exits the same texts?    `remainder_tries`    `,` after `a"` and after `b"`

`counted_walks` has the walks that count, for `counted_masks`. `trie_walk` is the loop that most walks share.
`tables` and `token_lists` are plain data; `table_store` has the lists and masks that tables refer to by number.
"""
