"""The numbers of the search for causes: how much is looked at, and what is evidence.

`python -m benchmarks.limits` says what halving and doubling each of them changes.
"""

from __future__ import annotations

# Evidence: what confirms and refutes --------------------------------------------------------------

CONFIRMING = 40
"""Held-out cases on which a cause has to show, all as predicted."""
QUIET = 12
"""Held-out cases at least on which it does not show."""
OF_A_PLACE = 8
"""Held-out cases that bear out one of several places of a claim, at least."""
OF_GRADIENTS = 6
"""Predictions besides exceptions that confirm a fault of gradients, at least."""
PER_UNCLEAR = 20
"""Held-out cases as predicted for each that is unclear, at least."""
PER_IN_PART = 5
"""The same for each with more wrong than predicted, or unclear in a claim of some elements."""
PER_HIDDEN = 2
"""The same for each that another fault may hide, or an invalid case refused for another reason."""
PER_BESIDE = 30
"""The same for each that is wrong in another way: the backend may have another bug there."""
PER_OTHER = 10
"""The same for each that went another way, where a claim is true of nearly all cases."""
PER_STRAY = 6
"""One in so many cases on which a fault does not show may fail without any known cause."""
NEARLY_ALL = 0.9
"""The share that is all but what another fault, or a second rounding, may change."""
LEAST_WRONG = 0.04
"""The least share of elements that are wrong, of those that may be."""
CHANCE = 0.001
"""That no element of a case is wrong: cases in which that is likelier tell less."""
APART = 2.0**-6
"""By how much of the largest value others differ, where that is no matter of rounding."""
NEAR = 2.0**-4
"""By how much of the right value results differ at most that are near to it."""
ROUNDING = 8.0
"""Units in the last place, for each cell, that rounding may make of a result."""
STANDS_OUT = 8.0
"""How many times what else differs a fault is, to be told from rounding."""

# Samples: what is looked at -----------------------------------------------------------------------

CONFORMING_READ = 400
"""Conforming vectors of an operator that are read."""
VALID_READ = 24
"""Valid vectors of an operator that invalid cases are made of, about."""
CALLED_AGAIN = 1000
"""Failures that are called again, the lightest."""
CALLED_AT_ONCE = 16
"""Of these, at once."""
WEIGHED = 240
"""Failures, and vectors that conform, that causes are held against, at most."""
LIGHT = 4000
"""The largest weight of a vector that is tried quickly."""
LIGHT_ONES = 2000
"""Failures that are tried quickly which a search starts from, about."""
HEAVY_ONES = 20
"""Other failures that it starts from, the lightest."""
HELD_AGAINST = 2_000_000
"""Size of the other failures that causes are held against, at most: seconds of work."""
COMMON_NUMBERS = 3
"""Numbers of a kind that failures have in common, at most."""
DIGITS = 2
"""Significant digits that rounding errors leave to a number made of wrong values."""
BITS = 50
"""Bits of a double that may be right where the others are not, below."""
READINGS = 8
"""Readings of open clauses under which an answer is held against a fault, at most."""
LOOKED_AT = 48
"""Failures, and vectors that conform, that are looked at for what they have in common, at most."""
LARGEST_OUTPUT = 1 << 14
"""Elements of an output that is looked at for what comes instead, at most."""
FEWEST_ALIKE = 2
"""Fewer failures, or wrong elements, have anything in common by chance."""
FITTING = 12
"""Of so many that fit the best is taken."""
TIMES_FEWER = 2
"""What changes so many times fewer elements takes the place of what is simpler."""
SHARED_FEATURES = 3
"""Features that vectors are said to share, at most."""
PAIRED_FEATURES = 16
"""Features, those that tell most, of which two may set vectors apart."""

# The search in recorded answers -------------------------------------------------------------------

SAMPLED = (40, 12, 8)
"""Failures of a sample, round by round."""
CAUSES = 12
"""Causes of one operator, at most."""
IN_VAIN = 8
"""Failures that nothing explains until no more is looked for, or no atom is tried any more."""
LIKELIEST = 24
"""Candidates that are held against conforming vectors, those that explain most."""
FEW_CONFORMING = 24
"""Conforming vectors that candidates are ranked by."""
PAIR_SEARCHES = 2
"""Failures for which two faults at once are looked for."""
PARTNERS = 5
"""Faults that come nearest to a failure, each tried together with all others."""
RIVALS = 3
"""Causes that fit less well and are tried under conditions."""
PLANTED = 1 << 14
"""Faults that stay planted for the next vector: more than atoms enumerate, far fewer than pairs."""
ALTERNATIVES = 16
"""Causes that fit as well, and are tried in turn."""
NEARLY_AS_MUCH = 0.75
"""The share of what a cause explains that another one explains as well."""
PER_MET = 20
"""A condition holds in so many failures for each vector in which it holds that conforms."""
SHARED = 4
"""Failures, at least, that a condition is seen in."""
TELLING = 4
"""So many elements are seldom all as a fault makes them by chance."""
MANY_WRONG = 32
"""So many, reproduced bit for bit, are no chance where no held-out case can be drawn."""
ONE_IN = 4
"""A cause explains one in so many failures, at least, that no other explains."""

# Experiments --------------------------------------------------------------------------------------

AT_ONCE = 8
"""Held-out cases that are asked at once."""
DRAWS = 150
"""Times that held-out cases are drawn for one cause, at most."""
BASES = 60
"""Samples that held-out cases are drawn near, at most."""
VARIED = 6
"""Held-out cases that are varied in each word, type and operator."""
OF_EACH = 2
"""Cases of each that a cause is held against."""
FAR = (0, 1, 9)
"""Numbers that axes are given, of which some are far from those of most cases."""
HEAVIEST = 1 << 26
"""Cells that windows of a held-out case read one after the other, at most."""
MOST_OUTPUTS = 1 << 20
"""Elements of its output, at most: that of an unpooling may be of any size."""
FAR_CELLS = 1 << 16
"""Cells of such a case, at most: an expected value may be made of all."""
ASKED_AGAIN = 3
"""Times that a case is asked again where equal values may hide what is wrong."""
CONFIRMED = 8
"""Causes of one operator that are confirmed, at most."""
SEARCHES = 2
"""Searches for other faults than those that were refuted, at most."""
FOR_A_CONDITION = 6
"""Cases on which a fault has to show before a condition is learned."""
SHARE_OF_LEFT = 3
"""It explains one in so many of the failures left, at least."""
PATIENCE = 5.0
"""Seconds that one answer may take: a case that takes longer is left out."""
CRASHES, HANGS = 6, 3
"""After which a backend is not asked any more: a crash costs a start, a hang seconds as well."""

# Rules --------------------------------------------------------------------------------------------

KNOWN = 100
"""Failures, vectors that conform and held-out cases each that rules are learned from."""
ROUNDS = 6
"""Times that rules or conditions are learned, each with what refuted those before."""
TRIED = 2
"""Rules that fit what is known of which so many are tried, and ways to part what is wrong."""
CONTESTED = 64
"""Times that cases are drawn of which rules may say different things."""
LIKE = 16
"""Times that cases are drawn near those that refuted a rule."""
ROWS = 9_000
"""Elements that a rule is learned from, at most."""
FEWEST_ROWS, MOST_ROWS = 24, 600
"""Of these, from one sample."""
ROUGH_ROWS = 800
"""Right ones among them that a rough search looks at."""
TABLES = 2
"""Times that rows are chosen: once more with those that the first rules missed."""
WEIGHT = 600.0
"""What the wrong elements of all samples weigh together at most, and the right ones."""
LEAST_WEIGHT = 2.0
"""What those of one sample weigh at least."""
BEAM = (28, 10, 6)
"""Conjunctions of one condition, of two and of three that are continued."""
BRANCHES = 40
"""Conditions that each is continued with."""
RULES = 10
"""Rules that are returned, at most."""
ALIKE_BITS = 6.0
"""Bits by which a rule may be longer than the shortest one."""
LONG_BITS = 20.0
"""Bits of a rule beyond which two places are looked for."""
UNION_BITS = 6.0
"""Bits that a second place costs, besides its conditions."""
SAMPLE_BITS = 3.0
"""Bits that a sample costs that a rule does not predict."""
SPLITS = 8
"""Ways in which what is wrong is parted in two places, roughly."""
PAIRED_RULES = 3
"""Conjunctions of each of the two parts that are paired."""
BY_CHANCE = 0.05
"""The share of right elements in a part that is wrong, at most."""
WORDS = 2
"""Words that a condition names at most."""
LARGEST_MODULUS = 64
"""The largest number that remainders are taken of."""

# State --------------------------------------------------------------------------------------------

HISTORY = 20_000
"""Calls that are looked at, up to the last that failed where there are more."""
FINDINGS = 3
"""Failures that are looked into of those right in another order, and of those wrong in any."""
REPEATS = 3
"""Fresh processes in which what was found is shown, and wrong calls of one that show it."""
FIRST_CALLS = 16
"""Calls that are tried at first: of one vector, or those that it depends on most likely."""
GROWTH = 4
"""How many times as many earlier calls are tried where some do not show it."""
FEWEST_CALLS, MOST_CALLS = 64, 4096
"""Calls of one vector that show by their numbers which are wrong."""
CALLS_A_BATCH = 256
"""Vectors that are called before it is looked at what is left."""

# Work, in the steps of `conformance.budget` -------------------------------------------------------

STEPS_OF_SEARCH = 200_000
"""For faults that reproduce failures of one operator, at most."""
STEPS_OF_SEARCH_AT_LEAST, STEPS_OF_SEARCH_A_FAILURE = 60_000, 1_500
"""Of these, to begin with, and for each failure."""
STEPS_OF_STATE = 300_000
"""For failures that depend on earlier calls: a hundred fresh starts, of which few have none."""
STEPS_OF_CALLS_AGAIN = 20_000
"""For calling failures again."""
STEPS_OF_EXPERIMENTS = 240_000
"""For all experiments on causes of one operator, at most."""
STEPS_AT_LEAST, STEPS_A_FAILURE = 60_000, 8_000
"""Of these, to begin with, and for each failure."""
STEPS_OF_A_CASE = 60_000
"""The same, where each failing case of many is looked into: in fuzzing."""
STEPS_OF_A_CAUSE = 50_000
"""Of these, for one supposed cause."""
STEPS_IN_VAIN = 15_000
"""Of these, until it shows on some case."""
STEPS_OF_INSTEAD = 40_000
"""For what comes instead of right values, in failures of a rule."""
STEPS_OF_LEFT = 30_000
"""For faults that reproduce what causes leave over, or readings that may be assumed."""
STEPS_OF_SMALLEST = 20_000
"""For a small case that shows a cause."""
