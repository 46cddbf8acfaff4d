cimport cython

from structgen.schema.algebra.shape cimport Shape
from structgen.schema.json_text.layout cimport Layout
from structgen.schema.json_text.terminals cimport key_regex, scalar_terminals


cdef class JsonNotation:
    cdef readonly Layout layout
    cdef readonly bint is_plain
    cdef readonly object other_keys

    cpdef list scalars(self, Shape shape)
    cpdef keys(self, keys, names)
    @cython.locals(start=str, size="Py_ssize_t", first="Py_ssize_t", last="Py_ssize_t")
    cpdef tuple completions(self, keys, bytes begun)
