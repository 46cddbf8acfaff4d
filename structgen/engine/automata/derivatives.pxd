cimport cython
from structgen.engine.deadlines cimport spend
from structgen.engine.arrays cimport grown_pool, zeros
from structgen.engine.automata.byte_partitions cimport BytePartitions
from structgen.engine.automata.payload_tables cimport PayloadTables
from structgen.engine.automata.remainder_sets cimport RemainderSet
from structgen.engine.automata.term_table cimport TermColumn, TermTable
from structgen.engine.automata.terms cimport Terms

# Typed copies of the constants of structgen/engine/constants.py.
cdef int EMPTY, NOTHING
cdef int K_UNION, K_LITERAL, K_BYTES, K_CHARS, K_REPEAT, K_INTERSECTION, K_COMPLEMENT, K_EARLY, K_TABLE, K_MULTIPLE, K_COUNTING, K_BOUNDED, K_DIGITS

cdef int NESTED, NOT_MADE, NO_MAP, ONE_CLASS


@cython.final
cdef class Derivatives:
    cdef readonly TermTable table
    cdef readonly PayloadTables payloads
    cdef readonly Terms terms
    cdef readonly BytePartitions partitions
    cdef dict _class_partitions          # number of a class of byte sequences -> (class map, list of targets)
    # The unevaluated targets. Number n stands in the target pool as -1 - n. Three arrays, by n:
    cdef int[::1] _later_term            # the term to derive; NOTHING for a union of targets
    cdef int[::1] _later_at              # the byte to derive by; for a union, its position in _members_of_later
    cdef int[::1] _later_made            # the result, a term; NOT_MADE until it is evaluated
    cdef int _later_count                # how many numbers are in use
    cdef TermColumn _later_depth         # by term: nesting depth of its unevaluated derivatives
    cdef int[::1] _members_of_later      # the unevaluated unions one after another: member count, then the members
    cdef int _member_count               # how many values of _members_of_later are in use

    @cython.locals(first=int, last=int, at=int)
    cpdef list targets(self, int term)
    cpdef int derive(self, int term) except -1
    @cython.locals(data=bytes)
    cdef int _derive_literal(self, int term) except -1
    @cython.locals(stack=list, top=int, heads=list, missing=list)
    cdef int _derive(self, int term) except -1
    @cython.locals(kind=int, seen=set, stack=list, heads=list, top=int, inner=int)
    cpdef list _active(self, int term)
    @cython.locals(kind=int)
    cpdef bint _head_accepts(self, int term) except -1
    @cython.locals(missing=list, head=int, term=int)
    cpdef list _missing(self, list heads)
    @cython.locals(deepest=int, head=int, term=int)
    cdef int _depth_of(self, list heads) except -1
    @cython.locals(kind=int)
    cdef tuple _inside(self, int head)
    @cython.locals(base=int, number=int, first_bytes=bytearray, literals=int, head=int, place=int, part=int, literals_base=int, classes=int, data=bytes, end=int, byte=int)
    cdef int _combine(self, list heads) except -1
    @cython.locals(work="int[::1]", members=list, at=int, number=int, target=int)
    cdef list _members(self, int base, int literals_base, int end, int byte)
    cdef int _united(self, list targets) except? -1
    @cython.locals(number=int)
    cdef int _later(self, int term, int byte) except? -1
    @cython.locals(count=int, first=int, index=int)
    cdef int _later_union(self, list members) except? -1
    @cython.locals(target=int, made=int)
    cpdef int materialize(self, int at) except -1
    @cython.locals(first=int, at=int, target=int, number=int)
    cdef int _put_off(self, int term) except -1
    @cython.locals(number=int, made=int, term=int, at=int, members="int[::1]", index=int)
    cdef int _made(self, int target) except -1
    cdef int target(self, int term, int byte) except -1
    cdef bint _leads_nowhere(self, int term, int byte) noexcept
    @cython.locals(kind=int, tail=int)
    cdef int _derivative(self, int term, int byte) except -1
    @cython.locals(target=int)
    cdef int _derivative_of_bounded(self, int counting, long long most, int tail, int byte) except -1
    @cython.locals(star=int, inner=int, parts=tuple, phase=int, after=int)
    cdef int _derivative_of_counting(self, int term, int byte) except -1
    @cython.locals(kind=int, tail=int, number=int, targets=list, target=int)
    cdef int _of_head(self, int term) except -1
    cdef tuple _of_class(self, int number)
    @cython.locals(number=int, low=int, high=int, depth=int, byte=int, first=int, after=int, found=dict, place=int, classes=bytearray)
    cdef int _of_table(self, tuple payload, int tail) except -1
    @cython.locals(number=int, remainder=int, least=int, most=int, members=RemainderSet, digit=int, after=int)
    cdef int _of_digits(self, tuple payload, int tail) except -1
    @cython.locals(number=int, first=int, place=int, target=int)
    cdef int _of_repeat(self, int term, int body) except -1
    @cython.locals(body=int, low="long long", high="long long")
    cdef int _after_one(self, int term) except -1
    @cython.locals(number=int, first=int, place=int, leads=bint)
    cdef int _of_part(self, int term, int part, bint is_refused) except -1
    @cython.locals(number=int, part=int, place=int, byte=int, leads=bint)
    cdef int _of_intersection(self, int term, tuple parts) except -1
    @cython.locals(parts=tuple, number=int, inner=int, place=int, byte=int, leads=bint)
    cdef int _of_counting(self, int term) except -1
    @cython.locals(number=int, part=int)
    cdef int _common_map(self, tuple parts) except -1
    cpdef tuple _counted_parts(self, int term)
    @cython.locals(parts=tuple, phase=int)
    cpdef bint is_between(self, int term) except -1
    cpdef int begun(self, int before, int after) except -1
