from structgen.engine.deadlines cimport spend


cdef class Language:
    cdef readonly object name, regex, outer, sizes

cdef class StringSet:
    cdef readonly object low, high
    cdef readonly tuple within, outside, excluded, texts, grammars
    cdef object _listed
