"""Passes that make a grammar without nullables smaller and keep its language. All are linear, or nearly so."""

from __future__ import annotations

from structgen.kbnf.normal_form.productions import Body, Productions

__all__ = [
    "components",
    "deduplicate_alternatives",
    "inline_single_uses",
    "merge_equal_nonterminals",
    "productive_nonterminals",
    "remove_unit_rules",
    "remove_unproductive",
    "remove_unreachable",
]


def deduplicate_alternatives(productions: Productions) -> Productions:
    """Keep one of equal alternatives, and drop `A ::= A`."""
    return productions.with_bodies([_distinct(number, old) for number, old in enumerate(productions.bodies)])


def _distinct(number: int, alternatives: list[Body]) -> list[Body]:
    if len(alternatives) == 1:
        return [] if alternatives[0] == (number,) else alternatives
    distinct = dict.fromkeys(alternatives)
    distinct.pop((number,), None)
    return alternatives if len(distinct) == len(alternatives) else list(distinct)


def remove_unproductive(productions: Productions, *, keep_endless: bool = False) -> Productions:
    """Remove the nonterminals that derive no text, and all alternatives that use them.

    Args:
        productions: a grammar without empty bodies.
        keep_endless: also keep endless nonterminals, which spell text for ever, as `B ::= 'a' B` does (the published
            package keeps them). `B ::= B 'a'` spells nothing and is removed all the same. Symbols after an endless one
            are never reached, and are cut off.
    """
    productive = productive_nonterminals(productions.bodies)
    if len(productive) == len(productions.bodies):
        return productions
    endless = _endless(productions.bodies, productive) if keep_endless else set()
    remaining: set[int] = set()
    while endless != remaining:
        # A body that stops at a dead end does not go on for ever, even if it has endless symbols.
        remaining = endless
        ways = [[b for b in alternatives if _spelled(b, productive, endless)] for alternatives in productions.bodies]
        endless = _endless(ways, productive)
    bodies = []
    for number, alternatives in enumerate(productions.bodies):
        if number in productive or number in endless:
            kept = (_spelled(body, productive, endless) for body in alternatives)
            bodies.append(list(dict.fromkeys(body for body in kept if body and body != (number,))))
        else:
            bodies.append([])
    return productions.with_bodies(bodies)


def _spelled(body: Body, productive: set[int], endless: set[int]) -> Body:
    """Return the part of a body that can be spelled: up to its first endless symbol; `()` if it is a dead end."""
    for position, symbol in enumerate(body):
        if symbol >= 0 and symbol not in productive:
            return body[: position + 1] if symbol in endless else ()
    return body


def productive_nonterminals(bodies: list[list[Body]]) -> set[int]:
    """Return the nonterminals that derive some text."""
    missing: list[int] = []
    heads: list[int] = []
    occurs_in: dict[int, list[int]] = {}
    productive: set[int] = set()
    # Going backwards decides nonterminals that refer to later ones only; in most grammars that is all of them.
    for head in range(len(bodies) - 1, -1, -1):
        for body in bodies[head]:
            unknown = [symbol for symbol in body if symbol >= 0 and symbol not in productive]
            if not unknown:
                productive.add(head)
                break
            for symbol in unknown:
                occurs_in.setdefault(symbol, []).append(len(heads))
            missing.append(len(unknown))
            heads.append(head)
    pending = [symbol for symbol in productive if symbol in occurs_in]
    while pending:
        for body_number in occurs_in.get(pending.pop(), ()):
            missing[body_number] -= 1
            if not missing[body_number] and heads[body_number] not in productive:
                productive.add(heads[body_number])
                pending.append(heads[body_number])
    return productive


def _endless(bodies: list[list[Body]], productive: set[int]) -> set[int]:
    """Return the nonterminals that can spell text for ever without ending.

    The derivation of an endless text goes from a nonterminal to one in its body, after symbols that end, and so on for
    ever. It spells something if infinitely many of these steps have symbols before them. So the endless nonterminals
    are those that reach a cycle with such a step.
    """
    steps: dict[int, list[tuple[int, bool]]] = {}
    for head, alternatives in enumerate(bodies):
        for body in alternatives:
            for position, symbol in enumerate(body):
                if symbol >= 0:
                    steps.setdefault(head, []).append((symbol, position > 0))
                    if symbol not in productive:
                        break
    component = components(len(bodies), {head: [target for target, _ in out] for head, out in steps.items()})
    found = {
        head
        for head, out in steps.items()
        if any(spells and component[target] == component[head] for target, spells in out)
    }
    leads_to: dict[int, list[int]] = {}
    for head, out in steps.items():
        for target, _ in out:
            leads_to.setdefault(target, []).append(head)
    pending = list(found)
    while pending:
        for head in leads_to.get(pending.pop(), ()):
            if head not in found:
                found.add(head)
                pending.append(head)
    return found


def components(count: int, edges: dict[int, list[int]]) -> list[int]:
    """Return for each node a number that its strongly connected component shares (Tarjan 1972, iterative)."""
    component = [-1] * count
    order = [-1] * count
    low = [0] * count
    stack: list[int] = []
    clock = 0
    for root in edges:
        if order[root] >= 0:
            continue
        path = [(root, iter(edges.get(root, ())))]
        order[root] = low[root] = clock
        clock += 1
        stack.append(root)
        while path:
            node, targets = path[-1]
            for target in targets:
                if order[target] < 0:
                    order[target] = low[target] = clock
                    clock += 1
                    stack.append(target)
                    path.append((target, iter(edges.get(target, ()))))
                    break
                if component[target] < 0:
                    low[node] = min(low[node], order[target])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == order[node]:
                    while True:
                        member = stack.pop()
                        component[member] = node
                        if member == node:
                            break
    return [node if found < 0 else found for node, found in enumerate(component)]


def remove_unit_rules(productions: Productions) -> Productions:
    """Replace aliases by their bodies, and join unit cycles.

    An alias is a nonterminal whose only rule is `A ::= B;` or `A ::= 'a';`. Nonterminals that derive each other by
    unit rules (`A ::= B | x; B ::= A | y;`) have the same language and become one. Other unit rules stay: expanding
    them is quadratic.

    Args:
        productions: a grammar without unproductive nonterminals.
    """
    bodies = productions.bodies
    units = {
        head: targets
        for head, alternatives in enumerate(bodies)
        if (targets := [body[0] for body in alternatives if len(body) == 1 and body[0] >= 0])
    }
    target: dict[int, int] = {}
    joined: dict[int, list[int]] = {}
    if units:
        for member, representative in enumerate(components(len(bodies), units)):
            if member != representative:
                target[member] = representative
                joined.setdefault(representative, [representative]).append(member)
    # Joining a cycle changes which nonterminals are aliases: the joined one has all bodies of the cycle but its own.
    united = {
        head: _renamed_alternatives(head, [body for member in members for body in bodies[member]], target)
        for head, members in joined.items()
    }
    for head, alternatives in enumerate(bodies):
        alternatives = united.get(head, alternatives)
        if len(alternatives) == 1 and len(alternatives[0]) == 1 and head not in target:
            symbol = alternatives[0][0]
            if symbol >= 0 or head != productions.start:
                target[head] = symbol
    if not target:
        return productions
    for head in target:
        _end(head, target)
    start = target.get(productions.start, productions.start)
    if start < 0:
        # The start is an alias of a terminal by way of another nonterminal: it keeps a body of its own.
        del target[productions.start]
        united[productions.start] = [(start,)]
    current = [united.get(head, alternatives) for head, alternatives in enumerate(bodies)]
    return _renamed(productions.with_bodies(current), target)


def _end(symbol: int, target: dict[int, int]) -> int:
    """Return the end of a chain of aliases, and shorten the chain (path compression)."""
    if symbol not in target:
        return symbol
    chain = []
    while symbol in target:
        chain.append(symbol)
        symbol = target[symbol]
    for passed in chain:
        target[passed] = symbol
    return symbol


def _renamed_alternatives(head: int, alternatives: list[Body], target: dict[int, int]) -> list[Body]:
    """Return the alternatives with symbols replaced, without duplicates and `A ::= A`."""
    renamed = [
        body if target.keys().isdisjoint(body) else tuple([_end(symbol, target) for symbol in body])
        for body in alternatives
    ]
    return _distinct(head, renamed)


def merge_equal_nonterminals(productions: Productions) -> Productions:
    """Merge nonterminals whose bodies are equal, their own names aside, until there are none left.

    A merge may make the users of the merged nonterminals equal, so these are compared again. Of two equal ones the one
    with fewer users goes. (Equal nonterminals that are recursive through each other stay.) The work is bounded by a
    multiple of the grammar's size; past it equal nonterminals may stay, which costs memory and nothing else.
    """
    bodies = productions.bodies
    by_content: dict[frozenset[Body], int] = {}
    equal = []
    for head, alternatives in enumerate(bodies):
        if alternatives:
            other = by_content.setdefault(_content(head, alternatives), head)
            if other != head:
                equal.append((head, other))
    if not equal:
        return productions
    current = list(bodies)
    users = _users(bodies)
    target: dict[int, int] = {}
    budget = _MAX_MERGING_WORK * sum(map(len, users))
    while equal and budget > 0:
        touched: set[int] = set()
        for left, right in equal:
            left, right = _end(left, target), _end(right, target)
            if left == right:
                continue
            gone, stays = (left, right) if len(users[left]) <= len(users[right]) else (right, left)
            target[gone] = stays
            current[gone] = []
            users[stays] += users[gone]
            touched.update(users[gone])
        equal = []
        for head in touched:
            if head not in target:
                current[head] = _renamed_alternatives(head, current[head], target)
                budget -= sum(map(len, current[head]))
                other = by_content.setdefault(_content(head, current[head]), head)
                if _end(other, target) != head:
                    equal.append((head, other))
    return _renamed(Productions(current, productions.names, productions.start, productions.terminals), target)


_MAX_MERGING_WORK = 20  # symbols rewritten, as a multiple of the grammar's size


def _users(bodies: list[list[Body]]) -> list[list[int]]:
    """Return for each nonterminal the heads of the bodies that it occurs in, once for each occurrence."""
    users: list[list[int]] = [[] for _ in bodies]
    for head, alternatives in enumerate(bodies):
        for body in alternatives:
            for symbol in body:
                if symbol >= 0:
                    users[symbol].append(head)
    return users


def _renamed(productions: Productions, target: dict[int, int]) -> Productions:
    """Return the grammar with every symbol replaced by the end of its chain in `target`."""
    for head in list(target):
        _end(head, target)
    bodies = [
        [] if head in target else _renamed_alternatives(head, alternatives, target)
        for head, alternatives in enumerate(productions.bodies)
    ]
    start = target.get(productions.start, productions.start)
    return Productions(bodies, productions.names, start, productions.terminals)


_SELF = -1


def _content(head: int, alternatives: list[Body]) -> frozenset[Body]:
    """Return the bodies as a value, in which the nonterminal's own name is `_SELF`."""
    return frozenset(
        [tuple([_SELF if s == head else s for s in body]) if head in body else body for body in alternatives]
    )


def inline_single_uses(productions: Productions) -> Productions:
    """Inline nonterminals that have one body and are used once.

    Args:
        productions: a grammar without unreachable nonterminals.
    """
    bodies = productions.bodies
    uses = [0] * len(bodies)
    uses[productions.start] = 2
    for alternatives in bodies:
        for body in alternatives:
            for symbol in body:
                if symbol >= 0:
                    uses[symbol] += 1
    single = {
        head
        for head, alternatives in enumerate(bodies)
        if uses[head] == 1 and len(alternatives) == 1 and head not in alternatives[0]
    }
    if not single:
        return productions
    new = [
        []
        if head in single
        else _distinct(
            head, [body if single.isdisjoint(body) else _inlined(body, single, bodies) for body in alternatives]
        )
        for head, alternatives in enumerate(bodies)
    ]
    return productions.with_bodies(new)


def _inlined(body: Body, single: set[int], bodies: list[list[Body]]) -> Body:
    """Return a body with nonterminals inlined. Each is used once, so this ends, and the whole pass is linear."""
    out: list[int] = []
    stack = list(reversed(body))
    while stack:
        symbol = stack.pop()
        if symbol in single:
            stack.extend(reversed(bodies[symbol][0]))
        else:
            out.append(symbol)
    return tuple(out)


def remove_unreachable(productions: Productions) -> Productions:
    """Remove the bodies of nonterminals that the start does not reach; the numbering stays."""
    bodies = productions.bodies
    reached = {productions.start}
    pending = [productions.start]
    while pending:
        for body in bodies[pending.pop()]:
            for symbol in body:
                if symbol >= 0 and symbol not in reached:
                    reached.add(symbol)
                    pending.append(symbol)
    if len(reached) == len(bodies):
        return productions
    return productions.with_bodies([old if head in reached else [] for head, old in enumerate(bodies)])
