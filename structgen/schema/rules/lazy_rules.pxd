cimport cython

from structgen.engine.grammar.tables cimport Lazy
from structgen.schema.algebra.arrays cimport ArraySet
from structgen.schema.algebra.objects cimport ObjectSet
from structgen.schema.algebra.shape cimport Shape
from structgen.schema.json_text.layout cimport Layout
from structgen.schema.json_text.terminals cimport is_long, is_surely_expressible
from structgen.schema.reading.space cimport Space


cdef class LazyRules:
    cdef readonly object space   # a Space; its methods are passed as functions
    cdef readonly dict shapes
    cdef readonly set productive
    cdef readonly object options
    cdef readonly object notation
    cdef readonly Layout layout
    cdef readonly bint captures
    cdef object _make_rules
    cdef list _set_rules
    cdef dict _numbers
    cdef readonly dict symbols
    cdef dict _enums
    cdef dict _alternatives
    cdef dict _apart
    cdef object _numbers_except
    cdef int _nested
    cdef readonly list lookaheads
    cdef readonly dict splits
    cdef bint _has_grammars
    cdef Py_ssize_t _searched
    cdef object _without_captures

    @cython.locals(space=Space)
    cpdef bodies(self, key)
    @cython.locals(space=Space)
    cpdef bodies_or_ladder(self, key)
    @cython.locals(found=list)
    cdef _bodies(self, key)
    cpdef after(self, then, text)
    cpdef refusals(self, then, begun)
    cpdef remaining(self, then, int least)
    cpdef bint holds(self, node) except -1
    @cython.locals(shapes=dict)
    cpdef list not_surely_writable(self, set nodes)
    cpdef symbol(self, node)
    @cython.locals(shape=Shape)
    cdef _symbol(self, node)
    cpdef late_symbol(self, node)
    cpdef symbol_without(self, node, values)
    cpdef bint holds_without(self, node, values) except -1
    cpdef tuple alternatives(self, node, values=*)
    @cython.locals(waiting=list, found=tuple)
    cdef tuple _find_alternatives(self, node, values)
    cdef tuple _made_alternatives(self, node, values)
    @cython.locals(found=list)
    cpdef tuple symbols_of(self, Shape shape, values)
    cdef _add_first(self, part, avoid, bint may_be_dead, list found)
    cpdef scalars(self, Shape shape)
    cdef _with_grammars(self, Shape shape)
    cpdef tuple rules_of(self, part)


@cython.locals(items=ArraySet, members=ObjectSet, key=str)
cdef bint _is_surely_writable(Shape shape) except -1
cdef bint _has_own_terminals(Shape shape) except -1
