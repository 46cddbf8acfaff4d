cdef class Resource:
    cdef readonly object uri, contents, place, dialect

cdef class Scope:
    cdef readonly object resource, dialect, entered, left

cdef class Subschema:
    cdef readonly object schema, place, scope
