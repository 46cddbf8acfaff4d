cimport cython

from structgen.engine.deadlines cimport spend


cpdef bytes canonical(text)
cpdef bytes _unquoted(text)
cdef _exact(text)
@cython.locals(ranges=list, points=list, special=list)
cdef _ascii(mask, bint every)
cdef _leaf(regex, bint every)
cdef _rebuilt(regex, list children)
