cimport cython
from structgen.engine.deadlines cimport spend
from structgen.engine.automata.byte_partitions cimport BytePartitions
from structgen.engine.automata.derivatives cimport Derivatives
from structgen.engine.automata.term_table cimport TermTable

# Typed copies of the constants of structgen/engine/constants.py.
cdef int K_BOUNDED, NEVER, NOTHING

cdef int MAX_BYTES, MAX_TEXTS, MAX_TRIED_BYTES, UNKNOWN


@cython.final
cdef class KnownTexts:
    cdef Derivatives _derivatives
    cdef TermTable _table
    cdef BytePartitions _partitions
    cdef list _last       # the texts found last, the latest first
    cdef dict _text_of    # term -> a text that it matches
    cdef dict _shortest   # term -> a shortest text of it; None if that is not short

    @cython.locals(index="Py_ssize_t", text=bytes, begun=int)
    cdef int begun(self, int term, int most=*) except -2
    @cython.locals(index="Py_ssize_t", total=int, after=int)
    cdef int _begun_by(self, int term, bytes text, int most) except -2
    @cython.locals(last="Py_ssize_t", index="Py_ssize_t", rest=bytes, found=bytearray, byte=int, text=bytes)
    cdef void add(self, list path) except *
    cdef bytes _known(self, int term)
    @cython.locals(number=int, place=int)
    cdef int _byte_between(self, int term, int after) except -2
    @cython.locals(text=bytearray, at=int, nearest=int, byte=int, first=int, number=int, target=int)
    cdef bytes shortest(self, int term)
