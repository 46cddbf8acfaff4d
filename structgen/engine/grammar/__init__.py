"""Rules of one grammar as flat arrays, and grammars composed of others.

    question                                               module               example
    How does a grammar enter the engine?                   `tables`             symbols in one array; bodies to be made
    Which rules does a nonterminal have?                   `rules`              made when first predicted
      Which characters must not come next?                 `lookaheads`         no letter after an identifier
      Where is a text refused that must not come again?    `refused_ends`       a second `"a"`, at its closing quote
    What if grammars follow each other, or repeat?         `composition`        `a = `, then a number
      if their terminals change?                           `changed_terminals`  each without `<s>`
    What is the shortest text of a nonterminal?            `shortest_bodies`    `[]` of a list
    Which terminals does it have, without making rules?    `all_terminals`      for automata built ahead of time

Read `tables` first.
"""
