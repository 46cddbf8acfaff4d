cpdef int postpone_full_collections() except -1
cpdef int allow_full_collections() except -1
