from structgen.engine.deadlines cimport spend


cdef class ObjectSet:
    cdef readonly dict properties
    cdef readonly tuple classes
    cdef public tuple required
    cdef readonly object low, high
    cdef public tuple somewhere
    cdef readonly tuple overlapping, clauses
    cdef public object known_cases
    cdef public bint is_unsplit
