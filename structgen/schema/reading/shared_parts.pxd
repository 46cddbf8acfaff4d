cimport cython

from structgen.engine.deadlines cimport spend


@cython.locals(ids=set, found=int, waiting=list)
cdef bint _shares_parts(content) except -1
