from structgen.engine.regex.tree cimport Literal, Sequence
from structgen.schema.json_text.strings cimport canonical


cdef class Layout:
    cdef readonly object gap
    cdef bytes _comma
    cdef bytes _colon
    cdef readonly object open_object
    cdef readonly object open_array
    cdef readonly object end_object
    cdef readonly object end_array
    cdef readonly object close_object
    cdef readonly object close_array
    cdef readonly object comma
    cdef readonly object colon

    cpdef key(self, name)
    cpdef tuple key_after(self, str lead, name)
