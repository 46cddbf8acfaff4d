cdef class Language:
    cdef readonly object name, regex, outer, sizes, spelled_by

cdef class StringSet:
    cdef readonly object low, high, within, outside, excluded, texts
