cimport cython

from structgen.engine.arrays cimport grown, zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.grammar.tables cimport Capture, Ladder, Lazy, Lookahead
from structgen.engine.grammar.lookaheads cimport Lookaheads
from structgen.engine.grammar.refused_ends cimport RefusedEnds

cdef int CAPTURES, END, NEVER, NOT_MADE, MAX_SEEN, TERMINAL, WIDTH


@cython.final
cdef class Captured:
    cdef Capture capture
    cdef int room
    cdef int after_any


cdef class Rules:
    cdef readonly AutomatonStore automata
    cdef public int[::1] symbols
    cdef public int[::1] start_state
    cdef public int[::1] before
    cdef readonly Lookaheads lookaheads
    cdef public int[::1] first_rule
    cdef public int[::1] last_rule
    cdef public int[::1] rule_starts
    cdef readonly int size
    cdef readonly int start_position
    cdef readonly int empty_position
    cdef readonly bint has_captures
    cdef readonly bint counts_tokens
    cdef readonly bint serve_many_texts
    cdef object _source
    cdef object _bodies_or_ladder
    cdef int _max_symbols
    cdef int[::1] _ready
    cdef int _ready_size
    cdef int _rule_count
    cdef int _nonterminals
    cdef list _keys
    cdef dict _numbers
    cdef list _captures
    cdef dict _continuations
    cdef dict _goes_on_endless
    cdef RefusedEnds _refused_ends
    cdef dict _tokens_left
    cdef dict _after_token
    cdef dict _counted_from

    @cython.locals(low=int, high=int, middle=int, rule=int, at=int)
    cpdef int rule_at(self, int position) except -2
    @cython.locals(nonterminal=int, first=int, found=int, start=int)
    cpdef int head_of(self, int rule) except -2
    cpdef int expand(self, int nonterminal) except -1
    @cython.locals(captured=Captured)
    cpdef int continuation(self, int number, text) except -2
    @cython.locals(captured=Captured, position=int, nonterminal=int)
    cdef int _position_after(self, int number, text) except -2
    cpdef int tokens_left(self, int position) except -1
    @cython.locals(after=int, state=int, before=int)
    cpdef int after_token(self, int position) except -1
    cpdef int first_position(self, int position) except -1
    @cython.locals(captured=Captured)
    cpdef bint is_endless(self, int number) except -1
    @cython.locals(captured=Captured)
    cpdef bint refuses(self, int number) except -1
    @cython.locals(captured=Captured)
    cpdef bint refuses_only_ends(self, int number) except -1
    cpdef bint goes_on_endless(self, int position) except -1
    cpdef bint has_room(self, int position, int state, int most) except -1
    @cython.locals(symbol=int, rule=int, seen=set)
    cdef bint _sees_endless(self, int position) except -1
    @cython.locals(captured=Captured)
    cpdef refusals(self, int number, bytes begun)
    @cython.locals(states=list, count=int, symbol=int, nonterminal=int, rule=int, at=int)
    cdef int _load(self, tables) except -1
    @cython.locals(first=int, most=int)
    cdef int _write_bodies(self, int nonterminal, bodies) except -1
    @cython.locals(keys=list, bodies=list, ready=int, numbers=list, starts=list, index=int, number=int, size=int, first=int)
    cdef int _write_ladder(self, Ladder ladder) except -1
    @cython.locals(index=int, symbol=int, begins=bint)
    cdef int _write_ready(self, int most) except -1
    @cython.locals(size=int, is_dead=bint, room=int, state=int, before=int, captured=int, lazy=Lazy)
    cdef int _prepare(self, body) except -1
    @cython.locals(size=int)
    cdef int _add_ready(self, int symbol, int state, int before) except -1
    @cython.locals(state=int, nonterminal=int)
    cdef int _captured(self, of) except -2
    @cython.locals(number=int)
    cdef int _lazy(self, key) except -1
    @cython.locals(number=int)
    cdef int _new_nonterminal(self, key=*) except -1
    cdef int _begin_rule(self, int position) except -1
    cdef int _write(self, int symbol) except -1
