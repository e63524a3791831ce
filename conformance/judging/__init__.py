"""Call a backend for vectors, judge its answers, and add the verdicts up."""
