"""Which cases there are: sweeps, drawn cases, layers of models, and the files made of them."""
