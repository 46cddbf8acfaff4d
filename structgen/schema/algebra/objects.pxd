from structgen.engine.deadlines cimport spend


cdef class ObjectSet:
    cdef readonly object properties, classes
    cdef public object required
    cdef readonly object low, high
    cdef public object somewhere
    cdef readonly object overlapping, clauses
    cdef public object known_cases
    cdef public bint is_unsplit
