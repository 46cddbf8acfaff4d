cdef class Language:
    cdef readonly object name, regex, outer

cdef class StringSet:
    cdef readonly object low, high, within, outside, excluded, texts
