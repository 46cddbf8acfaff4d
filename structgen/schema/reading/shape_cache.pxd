cimport cython


@cython.locals(found=list)
cpdef flat_content(dict schema, dialect)
