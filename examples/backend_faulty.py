"""A backend with one stated fault: `same_lower` puts an odd cell of padding at the end.

All else is right. The checker finds it with no hint of where to look.
"""

from conformance import load_backend

right = load_backend("numpy")


def backend(operator, inputs, attributes):
    """Compute as the documents say, but treat same_lower as same_upper."""
    if attributes.get("auto_pad") == "same_lower":
        attributes = {**attributes, "auto_pad": "same_upper"}
    return right(operator, inputs, attributes)
