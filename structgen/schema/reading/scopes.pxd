cdef class Resource:
    cdef readonly object uri, contents, location, dialect

cdef class Scope:
    cdef readonly object resource, dialect, entered, left

cdef class Subschema:
    cdef readonly object schema, location, scope
