"""The agent against (or with) nature on the undecided states, solved exactly and certified.

``options[s][a]`` lists nature's vertices in choice ``a`` of the undecided state ``s``.

Opposed players are solved by strategy iteration. One of them leads: the maximiser for P, the minimiser for R; the
follower's best response is exact, and the leader switches on strict improvement only.

P
    The follower minimises. Let v be the value of the leader's strategy. After a switch v <= P'v; on a recurrent
    class the inequality is tight, so no switched state lies in it, so the follower could trap the play there before
    as well and v = 0 there. Hence the value does not fall. At the end v = Tv and v is at most the value, which is the
    least fixed point of T.
R
    The follower maximises. Outside the region where the leader can force the target almost surely the value is
    infinite. Inside, start from a strategy that forces it; a recurrent class after a switch would have cost 0 and no
    switched state, hence have existed before. At the end v <= c + Pv for every strategy of the leader and a greedy
    follower.

None of this has to be believed: every answer is certified. The leader's strategy secures v against the follower's
exact best response, and a fixed strategy of the follower holds the leader's exact best response to v as well. By weak
duality that is the value, however v was found.
"""

from fractions import Fraction
from itertools import product

from .arena import Arena, Option, Stage, Values, best_response, score

Options = dict[int, list[list[Option]]]


class CertificateError(AssertionError):
    """The two players' strategies do not prove the same value."""


def same(first: Values, second: Values) -> bool:
    """Tell whether two value vectors agree exactly."""
    if first.infinite != second.infinite:
        return False
    return all(
        a * second.denominator == b * first.denominator or bool(first.infinite >> s & 1)
        for s, (a, b) in enumerate(zip(first.numerators, second.numerators, strict=True))
    )


def together(stage: Stage, maximise: bool, options: Options) -> Values:
    """Solve for two players of the same direction: one player who picks the choice and the vertex."""
    arena = {s: [[o for vertices in choices for o in vertices]] for s, choices in options.items()}
    return best_response(stage, maximise, arena)


class _Duel:
    """Strategy iteration for opposed players; see the module's docstring for the proof."""

    def __init__(self, stage: Stage, agent_max: bool, options: Options) -> None:
        self.stage, self.options, self.target = stage, options, stage.target
        self.leader_max = stage.kind == "P"
        self.agent_leads = agent_max == self.leader_max
        self.region = (1 << stage.size) - 1
        self.agent = dict.fromkeys(options, 0)
        self.nature = {s: [0] * len(choices) for s, choices in options.items()}
        # Where the follower can make the leader miss the target: how. Only for R.
        self.spoiling_agent: dict[int, int] = {}
        self.spoiling_nature: dict[int, list[int]] = {}

    def agent_arena(self, nature: dict[int, list[int]]) -> Arena:
        return {s: [[v[nature[s][a]] for a, v in enumerate(choices)]] for s, choices in self.options.items()}

    def nature_arena(self, agent: dict[int, int]) -> Arena:
        return {s: [choices[agent[s]]] for s, choices in self.options.items()}

    def respond(self, arena: Arena, maximise: bool) -> Values:
        return best_response(self.stage, maximise, arena)

    def force(self) -> None:
        """Find where the leader can force the target almost surely, a strategy for it, and one against it."""
        region = self.target | sum(1 << s for s in self.options)
        while True:
            reached = self.target
            growing = True
            while growing:
                growing = False
                for s, choices in self.options.items():
                    if region >> s & 1 and not reached >> s & 1:
                        good = [[not o.support & ~region and bool(o.support & reached) for o in v] for v in choices]
                        forced = any(map(all, good)) if self.agent_leads else all(map(any, good))
                        if forced:
                            growing = True
                            reached |= 1 << s
                            if self.agent_leads:
                                self.agent[s] = [all(g) for g in good].index(True)
                            else:
                                self.nature[s] = [g.index(True) for g in good]
            for s, choices in self.options.items():
                if region >> s & 1 and not reached >> s & 1:
                    good = [[not o.support & ~region and bool(o.support & reached) for o in v] for v in choices]
                    if self.agent_leads:
                        self.spoiling_nature[s] = [g.index(False) for g in good]
                    else:
                        self.spoiling_agent[s] = [any(g) for g in good].index(False)
            if reached == region:
                self.region = region
                return
            region = reached

    def inside(self, s: int, a: int, w: int) -> bool:
        return not self.options[s][a][w].support & ~self.region

    def usable(self, s: int, a: int) -> list[int]:
        """List the vertices of a choice that stay in the region; none if the follower may leave it."""
        stay = [w for w in range(len(self.options[s][a])) if self.inside(s, a, w)]
        return stay if not self.agent_leads or len(stay) == len(self.options[s][a]) else []

    def switch(self, values: Values) -> bool:
        """Improve the leader's strategy strictly somewhere, or report that this is not possible."""
        sign = 1 if self.leader_max else -1
        switched = False
        for s, choices in self.options.items():
            if not self.region >> s & 1:
                continue
            scores = {
                a: [sign * score(choices[a][w], values) for w in usable]
                for a in range(len(choices))
                if (usable := self.usable(s, a))
            }
            if self.agent_leads:
                worst = {a: min(found) for a, found in scores.items()}
                best = max(worst, key=worst.__getitem__)
                if worst[best] > worst[self.agent[s]]:
                    self.agent[s] = best
                    switched = True
            else:
                for a, found in scores.items():
                    usable = self.usable(s, a)
                    if max(found) > found[usable.index(self.nature[s][a])]:
                        self.nature[s][a] = usable[found.index(max(found))]
                        switched = True
        return switched

    def follower_holds(self, values: Values) -> Values:
        """Fix the follower's greedy (or spoiling) strategy and give the leader's best response to it."""
        sign = 1 if self.leader_max else -1
        if self.agent_leads:
            nature = {}
            for s, choices in self.options.items():
                if s in self.spoiling_nature and not self.region >> s & 1:
                    nature[s] = self.spoiling_nature[s]
                    continue
                nature[s] = []
                for a, vertices in enumerate(choices):
                    leaving = [w for w in range(len(vertices)) if not self.inside(s, a, w)]
                    found = [sign * score(o, values) for o in vertices]
                    nature[s].append(leaving[0] if leaving else found.index(min(found)))
            return self.respond(self.agent_arena(nature), self.leader_max)
        agent = {}
        for s, choices in self.options.items():
            if s in self.spoiling_agent and not self.region >> s & 1:
                agent[s] = self.spoiling_agent[s]
                continue
            found = [max(sign * score(v[w], values) for w in self.usable(s, a)) for a, v in enumerate(choices)]
            agent[s] = found.index(min(found))
        return self.respond(self.nature_arena(agent), self.leader_max)

    def solve(self) -> Values:
        if self.stage.kind == "R":
            self.force()
        while True:
            arena = self.nature_arena(self.agent) if self.agent_leads else self.agent_arena(self.nature)
            values = self.respond(arena, not self.leader_max)
            if not self.switch(values):
                break
        if not same(values, self.follower_holds(values)):
            raise CertificateError(f"{self.stage.kind}, agent leads: {self.agent_leads}")
        return values


def opposed(stage: Stage, agent_max: bool, options: Options) -> Values:
    """Solve for players of opposed directions and check the certificate."""
    return _Duel(stage, agent_max, options).solve()


def enumerated(stage: Stage, agent_max: bool, nature_max: bool, options: Options) -> list[Fraction | float]:
    """Solve by listing every memoryless policy of the agent, nature's best response to each being exact."""
    best: list[Fraction | float] = []
    for policy in product(*(range(len(choices)) for choices in options.values())):
        arena = {s: [choices[a]] for (s, choices), a in zip(options.items(), policy, strict=True)}
        found = best_response(stage, nature_max, arena).fractions()
        pick = max if agent_max else min
        best = [pick(a, b) for a, b in zip(best, found, strict=True)] if best else found
    return best
