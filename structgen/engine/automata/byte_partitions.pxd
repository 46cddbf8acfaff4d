cimport cython

from structgen.engine.arrays cimport grown, grown_pool, room, zeros
from structgen.engine.pair_table cimport PairTable
from structgen.engine.automata.term_table cimport TermColumn, TermTable

cdef int NO_MAP, ONE_CLASS
cdef list _SPREAD


@cython.final
cdef class BytePartitions:
    cdef readonly TermColumn map_at      # by term: number of the class map of its derivatives; NO_MAP if not known yet
    cdef readonly TermColumn targets_at  # by term: position of its first target in target_pool; one for each class
    cdef public int[::1] target_pool     # the targets of all terms; a negative number is unevaluated
    cdef int _target_count               # how many values of target_pool are in use
    cdef public int pools                # how often target_pool or class_of was replaced by a larger array
    cdef public int[::1] class_of        # the class of byte b in map m is at m * 256 + b
    cdef public int[::1] byte_of         # some byte of class c in map m is at m * 256 + c
    cdef public int[::1] width_of        # by class map: number of its classes
    cdef int _map_count                  # one more than the largest number of a class map
    cdef dict _number_of_map             # class map, as 256 bytes -> its number
    cdef dict _bytes_of_map              # number of a class map -> result of class_bytes
    cdef dict _number_of_set             # set of bytes, a 256-bit mask -> number of the map that has them in class 1
    cdef int[::1] _maps_of_bytes         # by byte: number of the map with only it in class 1; NO_MAP if not made yet
    cdef PairTable _products             # by two class maps: their common refinement
    cdef public int[::1] stack           # stack of the targets of partitions under construction
    cdef public int stack_size           # number of values on it
    cdef int[::1] _left                  # scratch space of `product` and `reduced`, by class
    cdef int[::1] _right                 # scratch space of `product`, by class

    @cython.locals(first=int, number=int, byte=int, class_id=int, width=int, before="int[::1]")
    cdef int map_number(self, bytes classes) except -1
    @cython.locals(found=list, byte=int, one=object)
    cdef list class_bytes(self, int number)
    @cython.locals(count=int, byte=int)
    cdef bint has_one_byte(self, int number, int class_id) noexcept
    cdef int map_of_set(self, mask) except -1
    @cython.locals(number=int)
    cdef int map_of_byte(self, int byte) except -1
    @cython.locals(found=int, left="int[::1]", right="int[::1]", width=int, product=bytearray, byte=int, mine=int, other=int, class_id=int)
    cdef int product(self, int first, int second) except -1
    cdef int push(self, int target) except -1
    @cython.locals(work="int[::1]", new_ids="int[::1]", width=int, different=int, class_id=int, target=int, new=int, classes=bytearray, byte=int)
    cdef int reduced(self, int number, int base) except -1
    @cython.locals(count=int, size=int, base=int, class_id=int, before="int[::1]")
    cdef int keep(self, int term, int number) except -1
    @cython.locals(size=int, offset=int)
    cdef int moved_down(self, int base, int top) except -1
    cdef int place_of(self, int term, int byte) noexcept
