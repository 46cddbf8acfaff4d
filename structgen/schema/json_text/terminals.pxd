cimport cython

from structgen.engine.deadlines cimport spend
from structgen.schema.algebra.shape cimport Shape
from structgen.schema.algebra.strings cimport StringSet


cdef Py_ssize_t _NODES_OF_RANGE, _MAX_SHORT


cpdef string_regex(StringSet strings)
cdef _known(texts, keyword)
@cython.locals(parts=list, excluded=list)
cdef _quoted(StringSet strings)
cpdef key_regex(keys, names)
@cython.locals(strings=StringSet)
cpdef bint is_surely_expressible(Shape shape) except -1
@cython.locals(size=Py_ssize_t, strings=StringSet)
cpdef bint is_long(Shape shape) except -1
@cython.locals(strings=StringSet)
cpdef bint has_long_texts(Shape shape) except -1
cpdef bint are_surely_expressible(StringSet strings) except -1
@cython.locals(words=list)
cdef list _words(bint null, int booleans)
@cython.locals(known=list, strings=list, numbers=list, parts=list)
cpdef list scalar_terminals(Shape shape, bint plain=*)
