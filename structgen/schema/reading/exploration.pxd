cimport cython

from structgen.engine.deadlines cimport spend
from structgen.schema.algebra.arrays cimport ArraySet
from structgen.schema.algebra.shape cimport Shape
from structgen.schema.reading.emptiness cimport array_holds, children, holds, object_holds
from structgen.schema.reading.space cimport Space


@cython.locals(shapes=dict, mixed=list, productive=set, pending=list, work=list, left=list, shape=Shape, array=ArraySet)
cpdef tuple explore(Space space, tuple root)
cdef _holds(Space space, node, Shape shape, set productive)
cdef _held(Space space, Shape shape, set productive)
