r"""Byte automata of regexes, built lazily from derivatives.

A state is a *term*: a number for the texts that may still come. `AutomatonStore` (`store`) is what other rooms use; it
answers by way of the modules here.

    question                                              module             example
    What is a term? Which terms are the same?             `terms`            `a|b` and `[ab]` are one term
      those of regular expressions                        `regular_terms`    literals, classes, repetitions, unions
      their numbers                                       `term_table`       a term is a row: kind, payload, tail
      their large parts, each stored once                 `payload_tables`   the class of all letters
    Which term is a regex?                                `from_regex`       a tree, translated from its end
    Which term is left after a byte?                      `derivatives`      `abc` by `a` is `bc`
      for all 256 bytes, in classes                       `byte_partitions`  `[0-9]x|y`: digits, `y`, all others
    Does a term match any text?                           `emptiness`        `a+ & (aa)*b` matches none
      Does it match a text that another one matched?      `known_texts`      `@a"`, in every state of a mail address
      Do more digits make a multiple?                     `remainder_sets`   after `5`: 52 and 56 are multiples of 4

Some facts are read off the *form* of a term, without its derivatives. Where the form does not show a fact, the answer
is the safe one.

    Which characters may its texts have?                  `alphabets`        `ab*`: a and b
    Are all its texts in C*R?                             `inclusion`        `abc*"` is in `[a-z]*"`
    Do infinitely many texts follow each prefix?          `endings`          in `"[a-z]*"`, not in `a*bc`
    How many letters may come first?                      `character_runs`   `[a-z]{0,55}[a-z0-9]@`: 56
    Is a bound so large that no token comes near it?      `ample_bounds`     1000 characters, where tokens have 128
    Which bounds does it have? What if they are smaller?  `count_bounds`     `(\S+\s+){0,57}\S+`: 57, and made 40

`suffix_automaton` has the substrings of a text. `eager` builds whole automata, `first_states` tests a pattern when it
is read, and `finite_languages` lists texts.
"""
