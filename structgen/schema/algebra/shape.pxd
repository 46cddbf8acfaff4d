from structgen.engine.deadlines cimport spend


cdef class Shape:
    cdef readonly object null, booleans
    cdef readonly tuple numbers, strings, arrays, objects
