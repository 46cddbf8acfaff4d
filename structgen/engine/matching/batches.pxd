cimport cython
from cython cimport view

from structgen.engine.matching.matcher cimport Matcher


cdef unsigned int FULL


@cython.locals(words="unsigned int[::view.strided, ::view.contiguous]", matcher=Matcher, row=int)
cpdef fill_next_token_bitmask(matchers, mask)
