cimport cython

cdef int _NULL, _BOOLEAN, _NUMBER, _INTEGER, _STRING, _ARRAY, _OBJECT, _ALL_TYPES
cdef dict _TYPES
cdef frozenset _STRING_KEYS, _ARRAY_KEYS, _OBJECT_KEYS


@cython.locals(types=int, numbers=tuple, strings=tuple, arrays=tuple, objects=tuple)
cpdef base_shape(dict schema, location, node_of, options, limits, deadline)
@cython.locals(types=int, bit=object)
cdef int _types(value, location) except -1
cdef _count(dict schema, keyword, location)
cdef tuple _strings(dict schema, location, node_of, options, limits)
cdef tuple _arrays(dict schema, location, node_of)
cdef tuple _contains(dict schema, location, node_of)
cdef tuple _names(value, keyword, location)
cpdef check_names(dict members, keyword, location)
@cython.locals(nodes=dict)
cdef tuple _objects(dict schema, location, node_of, limits, deadline)
