cimport cython

from structgen.schema.reading.scopes cimport Dialect


cdef frozenset _FLAT_VALUES, _KEPT_OWN, _REFERENCES


@cython.locals(keywords=frozenset, found=list)
cpdef flat_content(dict schema, Dialect dialect)
