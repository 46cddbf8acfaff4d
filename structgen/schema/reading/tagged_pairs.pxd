cimport cython

from structgen.engine.deadlines cimport spend
from structgen.schema.algebra.objects cimport ObjectSet
from structgen.schema.reading.simple_nodes cimport SimpleNodes


@cython.locals(other=_Other, part=ObjectSet, texts=frozenset, changed=dict, unchanged=set, parts=list, others=list)
cpdef tuple both_by_tag(SimpleNodes names, left, right)


cdef class _Other:
    cdef ObjectSet part
    cdef str key
    cdef bint excludes
    cdef frozenset texts
    cdef bint requires
    cdef bint is_only_tag

    cdef includes(self, ObjectSet part, frozenset texts)
