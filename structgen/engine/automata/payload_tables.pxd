cimport cython


@cython.final
cdef class PayloadTables:
    cdef readonly list sequences         # by class: its byte sequences
    cdef readonly list class_cover       # by class: the characters that it matches, each alone, as bits
    cdef readonly list class_alphabet    # by class: the characters that its texts may hold, as bits
    cdef readonly list texts             # by table: its sorted texts
    cdef readonly list suffix_automata   # of SuffixAutomaton
    cdef dict _class_of_sequences
    cdef dict _class_of_ranges
    cdef dict _table_of
    cdef dict _suffix_automaton_of
