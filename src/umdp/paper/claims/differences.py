"""What differs from the paper, and why: the text of the report's last section."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CONVENTIONS", "DIFFERENCES", "INTRODUCTION", "Difference"]


class Difference(NamedTuple):
    """A rule of the published code that is not the paper's."""

    topic: str
    paper: str
    published: str
    effect: str


INTRODUCTION = (
    "The paper's figures came from a program whose rules are not all those of its text. Both can be run here. "
    "“By definition” follows the text, and is the default everywhere in this package; “as published” follows that program, "
    "so that its curves can be compared with the paper's. Where the two verdicts on a claim differ, the "
    "difference comes from the rules below."
)

DIFFERENCES = (
    Difference(
        "When LUI sees a conflict",
        "It compares the observed frequency with the bounds.",
        "The frequency is an integer division. The lower bound is in conflict as soon as a batch holds two different "
        "successors, the upper bound if it holds one only.",
        "Whether there is a conflict no longer depends on where the frequency lies. A lower bound may pass its upper bound; "
        "here they then change places.",
    ),
    Difference(
        "Bounded strength",
        "Each end of the strength interval has its own cap.",
        "The cap of the lower end serves for both.",
        "Once the cap is reached, the strength interval is a point.",
    ),
    Difference(
        "Error rate and samples of PAC",
        "The error rate is shared among the uncertain transitions; N counts samples.",
        "It is divided by the number of actions of the state too, and N includes the prior's pseudo-counts.",
        "The first makes intervals wider, the second narrower.",
    ),
    Difference(
        "Clipping of PAC",
        "Bounds stay within [0.0001, 1].",
        "They stay within [1e-8, 1 - 1e-8].",
        "Worst cases can be much worse, on chain above all.",
    ),
    Difference(
        "Time and actions in UCRL2",
        "t counts the samples so far; A is the number of actions.",
        "t includes the pseudo-counts of all transitions; A is the number of actions of the state.",
        "With a larger t intervals are wider, above all at first.",
    ),
    Difference(
        "How MAP explores",
        "Not said. Here it follows its own optimal policy.",
        "It plays at random, uniformly.",
        "It learns from other data.",
    ),
    Difference(
        "Bounded priors of MAP and UCRL2",
        "They are “similarly” bounded.",
        "Once a parameter passes the cap all are scaled by cap over maximum, rounded up, and are at least 2.",
        "Proportions are about kept, and no parameter falls below 2.",
    ),
    Difference(
        "The policy that explores",
        "It comes from the current model.",
        "It is computed before the update.",
        "Exploration is one iteration late.",
    ),
    Difference(
        "The first doubling",
        "Counters start at 0.",
        "A pair that was never seen counts as seen once.",
        "None: a pair must be seen at least once here, too.",
    ),
    Difference(
        "Aircraft and bandit",
        "The other aircraft moves up, down or not with 0.3, 0.3, 0.4; the arms succeed with 0.01, 0.02 to 0.99.",
        "It moves with 0.4, 0.4, 0.2; the first nine arms succeed with 0.1, 0.2 to 0.9.",
        "The optimum on aircraft is 0.2688 and not 0.3024.",
    ),
    Difference(
        "The horizon", "A trajectory has at most H steps.", "It has at most H + 1.", "One step more per trajectory."
    ),
    Difference(
        "Where trajectories end",
        "In states that the graph shows to be decided, and where no reward is left.",
        "In states whose optimal value under the true probabilities is exactly 0 or 1 (0 or infinite where values exceed 1).",
        "The simulator uses knowledge that the learner does not have.",
    ),
    Difference(
        "A change",
        "The learner is told nothing.",
        "The doubling counters restart at the change.",
        "Iterations are short again right after it.",
    ),
    Difference(
        "Ties",
        "Actions within 1e-12 of each other, relative to the value, are equal, and the first one wins.",
        "Numbers are compared strictly.",
        "Of actions that differ by rounding alone, rounding decides.",
    ),
    Difference(
        "Values",
        "Exact. Every value here is certified, rounding included.",
        "Value iteration to a relative 1e-6, cut after 10,000 sweeps.",
        "The prior's worst case on chain is reported as 19,997; it is 1.0001e120. Here values are exact in both modes, but as "
        "published the policies for rewards, and those that explore, come from the same cut iteration.",
    ),
)

CONVENTIONS = (
    "Ties: an action wins only if it is better by more than 1e-12 relative to the value, and among equals the first one "
    "wins, wherever the search for it began. Curves "
    "depend on this, because on bandit and chain the best action is listed last: a rule that prefers the last makes even "
    "UCRL2 optimal from the first trajectory on. The experiment “ties” lists actions in random order, and shows how much "
    "it matters.",
    "The prior is iteration 0, and its policy is in force until the first iteration ends. An iteration ends after a whole "
    "trajectory, once some pair with several successors was seen in it at least once, and as often as in all iterations "
    "before. One that the end of a run cuts short is marked in the tables, and no curve ends with it. LUI does not update "
    "pairs that were not seen.",
    "In UCRL2, t counts all steps so far and is at least 1, A is the number of actions of the state, and N is at least 1.",
    "PAC's interval is [0.0001, 1] as long as a pair has no sample.",
    "By definition, exploration is purely optimistic (ξ = 1) and LUI's strength is [5, 10] in all six environments. As "
    "published, ξ is 0.9 on bandit and on the favourable betting game, and LUI's strength on grid is [20, 30].",
    "After a change, the policy in force is judged in the new environment from the next trajectory on.",
    "On chain, means are set by a few runs. Runs are compared there by ranks, medians or logarithms, and figures show "
    "geometric means.",
)
