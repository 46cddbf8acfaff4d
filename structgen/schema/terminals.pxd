cimport cython


cpdef string_regex(strings)
cdef _known(texts, keyword)
@cython.locals(parts=list, excluded=list)
cdef _quoted(strings)
cpdef key_regex(keys, names)
@cython.locals(known=list, strings=list, numbers=list, parts=list)
cpdef list scalar_terminals(shape)
