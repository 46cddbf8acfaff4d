cimport cython

from structgen.engine.deadlines cimport spend

cdef int CLASS_BYTES, SEQUENCE_BYTES, TEXT_BYTES


@cython.final
cdef class PayloadTables:
    cdef readonly list sequences         # by class: its byte sequences
    cdef readonly list class_cover       # by class: the characters that are texts of it by themselves, as bits
    cdef readonly list class_alphabet    # by class: the characters that its texts may hold, as bits
    cdef readonly list texts             # by table: its texts, sorted and distinct
    cdef readonly long long bytes_used   # estimated memory of all of them
    cdef readonly list suffix_automata   # by number: a SuffixAutomaton
    cdef readonly list remainder_sets    # by number: a RemainderSet
    cdef dict _class_of_sequences        # byte sequences -> class
    cdef dict _class_of_ranges           # ranges of code points -> class
    cdef dict _table_of                  # texts -> table
    cdef dict _suffix_automaton_of       # units -> number of the suffix automaton
    cdef dict _remainder_set_of          # choices -> number of the remainder set
