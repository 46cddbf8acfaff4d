cimport cython

from structgen.schema.algebra.arrays cimport ArraySet


cpdef bint can_differ(ArraySet part, usable, sizes, frozenset used=*) except -1
cpdef frozenset needed_values(ArraySet part, usable, sizes, frozenset used)
@cython.locals(left=ArraySet)
cdef _values_of_one(ArraySet part, usable, sizes, frozenset used)
