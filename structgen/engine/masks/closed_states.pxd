cimport cython

from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.deadlines cimport spend
from structgen.engine.masks.character_kinds cimport CharacterKinds

cdef int DEAD, MAX_APART, MAX_NEW, NO_MAP
cdef bytes SAMPLES


@cython.locals(bits="unsigned long long", count=int)
cdef int _count(unsigned long long bits) noexcept


@cython.final
cdef class ClosedStates:
    cdef AutomatonStore _automata
    cdef CharacterKinds _character_kinds
    cdef dict _leading_on
    cdef dict _targets
    cdef readonly unsigned long long kinds
    cdef readonly list states

    @cython.locals(seen=set, left=int, kinds="unsigned long long", source=int, target=int, by="unsigned long long", leading="unsigned long long", lost="unsigned long long")
    cpdef bint find(self, int state, int most, unsigned long long known) except -1
    @cython.locals(index="Py_ssize_t", last="Py_ssize_t", at=int, seen=set)
    cdef bint _comes_back(self, int state, int most) except -1
    cdef unsigned long long _steps(self, int state) except? 1
