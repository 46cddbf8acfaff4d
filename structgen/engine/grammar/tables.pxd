cimport cython


@cython.final
cdef class Lazy:
    cdef readonly object key


@cython.final
cdef class Ladder:
    cdef readonly list keys, bodies


@cython.final
cdef class Lookahead:
    cdef readonly int number


@cython.final
cdef class Capture:
    cdef readonly object of
    cdef readonly object then
    cdef readonly bint endless
    cdef readonly bint refuses


cdef class GrammarTables:
    cdef readonly object symbols, first_rule, rule_starts, terminals, names, start, accepts_empty, lazy, source
    cdef readonly object lookaheads, before, text_units, describer, marks, temperature, max_tokens
