import cython


cdef class LastText:
    cdef readonly bytes text
    cdef readonly int joined
    cdef readonly int scanner_state
    cdef readonly int token
    cdef readonly object cutting


cdef class LastTexts:
    cdef object _scanner
    cdef object _words
    cdef list _tokens
    cdef object _cuts_of
    cdef dict _known            # by state of the scanner

    @cython.locals(known=list)
    cpdef list of(self, int scanner_state)
    cdef list _find(self, int scanner_state)
