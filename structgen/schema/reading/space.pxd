cimport cython

from structgen.engine.deadlines cimport spend
from structgen.schema.algebra.shape cimport Shape
from structgen.schema.reading.atoms cimport Atoms
from structgen.schema.reading.keywords cimport base_shape
from structgen.schema.reading.scopes cimport Dialect, Scope, Subschema
from structgen.schema.reading.shape_cache cimport flat_content
from structgen.schema.reading.simple_nodes cimport SimpleNodes, has_long_node
from structgen.schema.reading.widening cimport Widening


cdef class Space:
    cdef readonly object document
    cdef readonly object options
    cdef readonly object limits
    cdef public object deadline
    cdef readonly Atoms atoms
    cdef object _node_of
    cdef public object text_units
    cdef public object dead
    cdef readonly set under_way
    cdef readonly object unions
    cdef set _of_clauses
    cdef bint _is_lenient
    cdef object _writable
    cdef Widening _widening
    cdef object _sizes
    cdef SimpleNodes _simple
    cdef object _fixed
    cdef dict _common
    cdef dict _shapes
    cdef dict _open
    cdef dict _beside
    cdef dict _may_hold
    cdef long long _parts
    cdef long long _max_parts
    cdef int _questions

    cpdef begin_again(self, deadline)
    cpdef Shape writable(self, Shape shape)
    cpdef tuple node(self, schema, location)
    @cython.locals(made=Shape)
    cpdef Shape shape(self, tuple node)
    @cython.locals(size="long long")
    cpdef Shape spend(self, Shape shape)
    @cython.locals(outer=Scope, subschema=Subschema, shape=Shape, known=dict)
    cpdef Shape _made(self, tuple node)
    @cython.locals(result=Shape)
    cdef Shape _accepted_by(self, dict known, location)
    cpdef Shape base(self, dict known, location)
    cpdef Shape _typed(self, dict known, location)
    @cython.locals(dialect=Dialect, keywords=frozenset)
    cdef dict _asserting(self, dict schema, location)
    cdef dict _as_read(self, dict schema)
    cpdef Shape union(self, nodes)


cpdef release(Space space)
cpdef bint has_circles(Space space) except -1
cdef _fixed_points(Space space)
cdef SimpleNodes _simple(Space space)
@cython.locals(before=tuple)
cdef Shape _intersection(Space space, tuple node)
cdef _answer(Space space, question)
