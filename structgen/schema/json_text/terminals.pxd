cimport cython

from structgen.engine.deadlines cimport spend
from structgen.schema.algebra.shape cimport Shape
from structgen.schema.algebra.strings cimport StringSet


cpdef string_regex(StringSet strings)
cdef _known(texts, keyword)
@cython.locals(parts=list, excluded=list)
cdef _quoted(StringSet strings)
cpdef key_regex(keys, names)
@cython.locals(words=list)
cdef list _words(bint null, int booleans)
@cython.locals(known=list, strings=list, numbers=list, parts=list)
cpdef list scalar_terminals(Shape shape, bint plain=*)
