"""A report or a vector for people and machines: each module renders the same values."""
