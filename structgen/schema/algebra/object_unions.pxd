cimport cython

from structgen.engine.deadlines cimport spend
from structgen.schema.algebra.objects cimport ObjectSet


cdef Py_hash_t _HASH_OF_OPEN
cdef int _MAX_JOINED_KEYS

@cython.locals(keys=list, before=Py_ssize_t, sketches=list, alike=dict)
cpdef tuple joined(tuple parts)
@cython.locals(found=dict, part=ObjectSet)
cdef list _keys(tuple parts)
@cython.locals(classes=Py_hash_t, found=Py_hash_t, properties=dict)
cdef Py_hash_t _sketch(ObjectSet part) except? -1
@cython.locals(i=Py_ssize_t, found=set, sketch=Py_hash_t, part=ObjectSet)
cdef bint _may_be_alike(str key, tuple parts, list sketches) except -1
