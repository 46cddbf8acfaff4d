cpdef as_words(mask, int vocab_size)
cpdef as_rows(mask)
cdef _words(mask)
cdef bint _is_tensor(value) except -1
