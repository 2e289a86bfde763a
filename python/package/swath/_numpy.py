"""numpy, or an error that says how to install it: ``from swath._numpy import np``."""

try:
    import numpy as np
except ModuleNotFoundError:
    raise ImportError(
        "arrays need numpy, which is not installed; try: run pip install 'swath[numpy]'",
        name="numpy",
    )

__all__ = ["np"]
