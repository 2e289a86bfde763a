"""numpy, or an error that says how to get it: ``from swath._numpy import np``."""

try:
    import numpy as np
except ModuleNotFoundError:
    raise ImportError(
        "numpy is not installed, and arrays are numpy's; try: pip install 'swath[numpy]'",
        name="numpy",
    )

__all__ = ["np"]
