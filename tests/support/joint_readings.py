"""Which readings explain votes, by trying every combination of all clauses: slow and plain.

A vote is `(operator, set of combinations, separators)`: each combination maps the clauses that
touch the vector to readings, given as numbers; separators map attributes to values.
"""

from itertools import combinations, product


class Joint:
    """The explanations of some votes; `clauses` are (name, number of readings, nested) in order."""

    def __init__(self, clauses, attributes, votes):
        self.sizes = {name: size for name, size, _ in clauses}
        self.attributes = attributes
        self.votes = votes
        touching = {name for _, accepted, _ in votes for one in accepted for name in one}
        self.plain = [name for name, _, nested in clauses if name in touching and not nested]
        self.nested = [name for name, _, nested in clauses if name in touching and nested]
        self.in_order = [name for name, *_ in clauses if name in touching]

    def explanations(self, varying):
        """Return every choice of the clauses that do not vary that explains every vote."""
        fixed = [name for name in (*self.nested, *self.plain) if name not in varying]
        every = product(*(range(self.sizes[name]) for name in fixed))
        choices = [dict(zip(fixed, choice, strict=True)) for choice in every]
        return [
            choice
            for choice in choices
            if all(self.agreeing(accepted, choice) for _, accepted, _ in self.votes)
        ]

    @staticmethod
    def agreeing(accepted, choice):
        """Return the combinations of a set that have the readings chosen."""
        return [one for one in accepted if all(choice.get(n, r) == r for n, r in one.items())]

    def fewest_varying(self):
        """Return the smallest sets of clauses that must vary."""
        concerned = [*self.plain, *self.nested]
        for size in range(len(concerned) + 1):
            found = [v for v in combinations(concerned, size) if self.explanations(v)]
            if found:
                return found
        raise AssertionError

    def refutes(self, exception):
        """Say whether no explanation of the votes, nor of those alike in two ways, excuses it."""
        for alike in ((), *combinations(self.attributes, 2)):
            votes = [v for v in self.votes if all(v[2][a] == exception[2][a] for a in alike)]
            clauses = [(name, size, name in self.nested) for name, size in self.sizes.items()]
            others = Joint(clauses, self.attributes, votes)
            for varying in others.fewest_varying():
                if any(self.agreeing(exception[1], c) for c in others.explanations(varying)):
                    return False
        return True

    def reports(self):
        """Return status, reading, attribute, values, counts and vectors of each clause."""
        every = [self.explained(varying) for varying in self.fewest_varying()]
        best = min(every, key=lambda found: sum(one[0] == "inconsistent" for one in found.values()))
        return {name: best[name] for name in self.in_order}

    def explained(self, varying):
        """Return the reports if some clauses vary."""
        explanations = self.explanations(varying)
        chosen = {}
        for names in (self.nested, self.plain):
            for name in names:
                if name not in varying:
                    chosen[name] = min(choice[name] for choice in explanations)
                    left = [c for c in explanations if c[name] == chosen[name]]
                    explanations = left
            if names is self.nested:
                strict = explanations
        splits = self.splits(varying, chosen) | self.strictest(chosen)
        found = {}
        for name in self.in_order:
            status, followed = "inconsistent", None
            if name not in varying:
                readings = {choice[name] for choice in strict}
                status = "followed" if len(readings) < self.sizes[name] else "either"
                followed = min(readings) if status == "followed" else None
            by, values = splits.get(name, (None, {}))
            if by:
                status, followed = "split", None
            alone = self.alone(name, chosen)
            if name in self.nested:
                alone = [{min(readings)} if readings else set() for readings in alone]
            counts = [alone.count({reading}) for reading in range(self.sizes[name])]
            found[name] = (status, followed, by, values, counts, len(alone))
        return found

    def touched(self, name):
        """Return the votes of vectors that a clause touches."""
        return [vote for vote in self.votes if name in vote[1][0]]

    def alone(self, name, chosen):
        """Return, for each vector a clause touches, its readings if the others are as chosen."""
        others = {other: reading for other, reading in chosen.items() if other != name}
        return [
            {one[name] for one in self.agreeing(accepted, others)}
            for _, accepted, _ in self.touched(name)
        ]

    def splits(self, varying, chosen):
        """Return the attribute that splits each clause that varies, if one does, and its values."""
        found = {}
        left = [self.agreeing(accepted, chosen) for _, accepted, _ in self.votes]
        for name in varying:
            mine = [i for i, (_, accepted, _) in enumerate(self.votes) if name in accepted[0]]
            for attribute in self.attributes:
                agreed = {}
                for i in mine:
                    readings = {one[name] for one in left[i]}
                    value = self.votes[i][2][attribute]
                    agreed[value] = agreed.get(value, readings) & readings
                if all(agreed.values()):
                    found[name] = (
                        attribute,
                        {
                            value: min(r) if len(r) < self.sizes[name] else None
                            for value, r in agreed.items()
                        },
                    )
                    for i in mine:
                        value = self.votes[i][2][attribute]
                        left[i] = [one for one in left[i] if one[name] in agreed[value]]
                    break
        return found

    def strictest(self, chosen):
        """Return the strictest readings of nested clauses by element type, where they differ."""
        found = {}
        for name in self.nested:
            if chosen.get(name):
                agreed = {}
                for (*_, separators), readings in zip(
                    self.touched(name), self.alone(name, chosen), strict=True
                ):
                    value = separators["dtype"]
                    agreed[value] = agreed.get(value, readings) & readings
                # Where types of one set have no reading in common, the first is as good as any.
                values = {value: min(r, default=0) for value, r in agreed.items()}
                if len(set(values.values())) > 1:
                    found[name] = "dtype", values
        return found
