"""What can be wrong, said once: the catalogue names some of it, slips are all of it.

    wrong behaviour  =  where (a condition)  x  step (a place)  x  atom

An atom is words and a function: what is read, counted or moved in place of what should be. A place
is the step of the pipeline in which that happens. `catalogue` has a name for each of the wrong
behaviours that the strength of vectors is measured by, and `diagnosis/slips` enumerates atoms and
places, named or not.
"""
