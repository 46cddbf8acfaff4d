# The order of the fields is that of the constructors' arguments.

cdef class Dialect:
    cdef readonly str name
    cdef readonly frozenset keywords
    cdef readonly str id_keyword
    cdef readonly bint ref_overrides, has_item_lists, asserts_formats
    cdef readonly frozenset ignores

cdef class Resource:
    cdef readonly object uri, contents, location
    cdef readonly Dialect dialect

cdef class Scope:
    cdef readonly object resource
    cdef readonly Dialect dialect
    cdef readonly object entered, left

cdef class Subschema:
    cdef readonly object schema, location, scope
