from structgen.engine.deadlines cimport spend


cdef class Shape:
    cdef readonly object null, booleans, numbers, strings, arrays, objects
