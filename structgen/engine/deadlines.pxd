cimport cython
from structgen.engine.garbage_collection cimport (
    allow_full_collections,
    hold_collections,
    postpone_full_collections,
    release_collections,
)
from structgen.engine.threads cimport this_thread

cdef bint IS_COMPILED
cdef int UNITS_BETWEEN_LOOKS
cdef int SPARE
cdef double HELD_SECONDS
cdef double SECONDS_BETWEEN_TURNS
cdef long long UNIT_BYTES
cdef long long BYTES_BETWEEN_READINGS
cdef long long UNKNOWN
cdef list _begun
cdef int _units_left        # until the next look at the clock
cdef bint _is_postponed
cdef double _last_turn      # when other threads could run last
cdef long long _new_bytes   # counted since they were last added to the count of a deadline


cpdef int spend(int units) except -1
@cython.locals(size="long long")
cpdef int look() except -1
@cython.locals(deadline=Deadline)
cdef Deadline _running(long thread)
@cython.locals(thread=long, deadline=Deadline)
cpdef _forget_others()
cpdef void count_bytes(long long size) noexcept


cdef class Deadline:
    cdef double _seconds
    cdef str _limit
    cdef double _end
    cdef long _thread
    cdef int _depth
    cdef Deadline _outer
    cdef long long _memory_bytes
    cdef readonly long long counted_bytes   # an upper bound on the memory that the call has taken
    cdef long long _resident_before     # memory of the process when it was first counted

    cpdef int begin(self) except -1
    cpdef int begin_anew(self) except -1
    cpdef int end(self) except -1
    cpdef check(self)
    @cython.locals(outermost=Deadline)
    cdef double _began(self)
    cpdef int check_chain(self) except -1
    cpdef int count(self, long long size) except -1
