cimport cython

from structgen.engine.deadlines cimport spend

# Nodes are made of unions made before, so no cycle leads through one.
@cython.no_gc
@cython.final
cdef class AnyOf:
    cdef readonly tuple nodes, rank
    cdef readonly object size
    cdef readonly int depth
    cdef Py_hash_t _hash

@cython.locals(atoms=set, unions=list, plain=tuple)
cpdef tuple meet(tuple left, tuple right)
@cython.locals(numbers=list)
cdef tuple _ordered(set atoms)
@cython.locals(given=set, kept=dict, rests=list, node=tuple)
cdef tuple _narrowed(tuple plain, list unions)
cdef _rest(tuple node, set given)
cpdef tuple complement(tuple node)
cpdef list complements(tuple node)
cdef tuple _opposite(atom)
@cython.locals(found=list, split=list)
cpdef list cases(tuple node, asked)
