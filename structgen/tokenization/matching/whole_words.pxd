cdef class WholeWords:
    cdef readonly frozenset tokens
    cdef dict _children         # by node and token: the next node
    cdef dict _begun            # by token: see `begun_by`
    cdef set _ends
    cdef dict _following        # by node: the tokens that lead to another one

    cpdef int begun_by(self, int token) except? -2
    cpdef int after(self, int word, int token) except? -2
    cpdef list following(self, int word)
    cpdef bint is_whole(self, int word) except -1
    cpdef bint is_alone(self, int word) except -1
