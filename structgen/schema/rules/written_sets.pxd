cimport cython

cdef Py_ssize_t LARGEST, MAX_BEGUN, SMALLEST, STEP


cpdef text_of(value)
cpdef list texts_of(values)


@cython.final
cdef class Line:
    cdef readonly list values
    cdef readonly dict places
    cdef readonly dict groups
    cdef readonly dict seen_numbers
    cdef list _sorted

    @cython.locals(place="Py_ssize_t")
    cdef add(self, value)
    @cython.locals(found=Line)
    cdef Line branched(self, Py_ssize_t size, value)
    @cython.locals(found=list, at="Py_ssize_t", text=str, place="Py_ssize_t")
    cdef list beginning_with(self, str start, Py_ssize_t size)


@cython.final
cdef class WrittenSet:
    cdef readonly Line line
    cdef readonly Py_ssize_t size
    cdef readonly object last
    cdef readonly Py_hash_t mixed

    @cython.locals(values=list, place="Py_ssize_t")
    cpdef WrittenSet having(self, value)


@cython.locals(first=WrittenSet, before=list)
cpdef WrittenSet with_written(values, value)
@cython.locals(line=Line, size="Py_ssize_t", groups=list, at="Py_ssize_t", many="Py_ssize_t", start=str, texts=list, rests=tuple)
cpdef tuple rests_of(notation, values, bytes begun)
@cython.locals(key=tuple, texts=list, rests=tuple)
cdef tuple _group(notation, Line line, bytes begun, Py_ssize_t first, Py_ssize_t many)
