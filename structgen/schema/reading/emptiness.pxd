cimport cython

from structgen.engine.deadlines cimport spend
from structgen.schema.algebra.arrays cimport ArraySet
from structgen.schema.algebra.objects cimport ObjectSet
from structgen.schema.algebra.shape cimport Shape


@cython.locals(found=list, array=ArraySet, part=ObjectSet)
cpdef list children(Shape shape)
@cython.locals(array=ArraySet, part=ObjectSet)
cpdef bint holds(Shape shape, productive, sizes) except -1
cpdef bint array_holds(ArraySet part, productive, sizes=*) except -1
cpdef bint object_holds(ObjectSet part, productive) except -1
