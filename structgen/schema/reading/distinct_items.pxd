cimport cython

from structgen.schema.algebra.arrays cimport ArraySet


@cython.locals(left=ArraySet)
cpdef bint can_differ(ArraySet part, usable, sizes, frozenset used=*) except -1
