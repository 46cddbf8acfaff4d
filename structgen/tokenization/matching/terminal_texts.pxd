from structgen.engine.pair_table cimport PairTable


cdef class TerminalTexts:
    cdef readonly dict leading
    cdef readonly dict within
    cdef readonly dict endings
    cdef public PairTable cuts
    cdef public PairTable inner_cuts
    cdef readonly dict completed
    cdef readonly dict blanks
    cdef readonly dict longer
