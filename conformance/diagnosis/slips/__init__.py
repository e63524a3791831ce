"""Slips: a backend that answers as a right one would for other numbers, words, cells or values.

A grammar makes them from what operators have in common: a list with one number per spatial axis, or
a word, is read as another one everywhere or in a single step of the geometry; windows and divisors
have other ends; padding holds something; other cells are read; numbers are changed, compared or
added in another way; or arrays are laid out otherwise. A slip is planted and held against fresh
cases as a fault of the catalogue is, but nobody thought of it before.
"""

from conformance.diagnosis.slips.search import likely_slips, slips, slips_instead
from conformance.diagnosis.slips.slip import SlipFault

__all__ = ["SlipFault", "likely_slips", "slips", "slips_instead"]
