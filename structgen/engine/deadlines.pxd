cdef int UNITS_BETWEEN_LOOKS
cdef double SECONDS_BETWEEN_TURNS
cdef dict _running          # thread -> its innermost Deadline
cdef int _units_left        # until the next look at the clock
cdef double _last_turn      # when other threads could run last


cpdef int spend(int units) except -1
cpdef int look() except -1


cdef class Deadline:
    cdef double _seconds
    cdef str _limit
    cdef double _end
    cdef object _thread
    cdef int _depth
    cdef Deadline _outer

    cpdef int begin(self) except -1
    cpdef int begin_anew(self) except -1
    cpdef int end(self) except -1
    cpdef check(self)
    cpdef int check_chain(self) except -1
