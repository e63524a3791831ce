"""Reports: what a run says, as values and as the lines that are saved."""
