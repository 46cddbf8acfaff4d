cdef class Literal:
    cdef readonly object data

cdef class Chars:
    cdef readonly object ranges

cdef class ByteSet:
    cdef readonly object mask

cdef class Sequence:
    cdef readonly object parts

cdef class Choice:
    cdef readonly object parts

cdef class Repeat:
    cdef readonly object body, min, max

cdef class Intersection:
    cdef readonly object parts

cdef class Complement:
    cdef readonly object body

cdef class Early:
    cdef readonly object body

cdef class LiteralSet:
    cdef readonly object texts

cdef class Substrings:
    cdef readonly object units

cdef class Runs:
    cdef readonly object units, skipped

cdef class Multiple:
    cdef readonly object divisor, remainder, factors

cdef class Remainders:
    cdef readonly object choices, remainder, min, max
