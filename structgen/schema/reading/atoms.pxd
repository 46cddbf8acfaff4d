cimport cython

from structgen.engine.deadlines cimport spend
from structgen.schema.reading.scopes cimport Dialect, Scope, Subschema
from structgen.schema.reading.shape_cache cimport flat_content


cdef frozenset _LEADING
cdef Py_ssize_t _WORDS_OF_KEYWORD


cdef class Atoms:
    cdef public Scope scope
    cdef object _document
    cdef Dialect _dialect           # of the document
    cdef object _limits
    cdef int _max_nodes
    cdef int _counted_from
    cdef dict _common
    cdef dict _shapes
    cdef list _subschemas
    cdef dict _contents
    cdef dict _flat
    cdef dict _others

    cpdef begin_again(self)
    cpdef tuple node(self, schema, location)
    @cython.locals(keywords=dict)
    cdef tuple _node(self, schema, location, Scope scope)
    @cython.locals(target=Subschema)
    cdef tuple _followed(self, schema, location, Scope scope)
    @cython.locals(dialect=Dialect, content=tuple, found=tuple, is_usual=bint, asserts_all=bint)
    cdef tuple _number(self, dict schema, location, Scope scope)
    cdef tuple _new_atom(self, dict schema, location, Scope scope, int mark=*)
    cpdef Subschema subschema(self, int atom)
    cpdef content(self, int atom)


cdef _identity(dict schema, Scope scope)
