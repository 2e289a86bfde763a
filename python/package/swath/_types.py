"""Types of columns by all names that Python has for them."""

from __future__ import annotations

import datetime
from typing import Any

_UNITS = ("s", "ms", "us", "ns")
TYPES = [
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("float32", "float64", "date"),
    *(f"timestamp[{unit}]" for unit in _UNITS),
    *(f"timestamp[{unit}, UTC]" for unit in _UNITS),
    *("text", "dictionary", "null"),
]

_OF_PYTHON = {
    bool: "bool",
    int: "int64",
    float: "float64",
    str: "text",
    datetime.date: "date",
    datetime.datetime: "timestamp[us]",
}
# Names of Arrow, pandas and polars.
_ALIASES = {
    "str": "text",
    "string": "text",
    "utf8": "text",
    "large_string": "text",
    "string_view": "text",
    "object": "text",
    "category": "dictionary",
    "categorical": "dictionary",
    "boolean": "bool",
    "date32": "date",
    "date32[day]": "date",
    "datetime64[D]": "date",
    "timestamp": "timestamp[us]",
    "int": "int64",
    "float": "float64",
    "double": "float64",
}
# The words of the command, of reports and of errors.
for _bits in (16, 32, 64):
    _ALIASES |= {f"i{_bits}": f"int{_bits}", f"u{_bits}": f"uint{_bits}", f"f{_bits}": f"float{_bits}"}
del _ALIASES["f16"]
# Words that mean 8 bits in the command, but 8 bytes in numpy.
_UNCLEAR = {"i8": "int", "u8": "uint"}
_ALIASES |= {f"datetime64[{unit}]": f"timestamp[{unit}]" for unit in _UNITS}
for _unit in _UNITS:
    for _other in (f"timestamp[{_unit}, tz=UTC]", f"datetime64[{_unit}, UTC]"):
        _ALIASES[_other] = f"timestamp[{_unit}, UTC]"


def type_word(dtype: Any) -> str:
    """Returns the library's word for a type, which is a name or a type of Python, numpy, pandas or
    pyarrow."""
    if isinstance(dtype, str) and dtype in _UNCLEAR:
        kind = _UNCLEAR[dtype]
        raise TypeError(
            f"dtypes=…: {dtype!r} is {kind}64 in numpy and {kind}8 in Arrow; "
            f'try: write "{kind}8" or "{kind}64"'
        )
    found = _found(dtype)
    if found is None:
        raise TypeError(
            f"dtypes=…: {dtype!r} is not a type of a column; the types are {', '.join(TYPES)}"
            "; try: pass one of them"
        )
    return found


def _found(dtype: Any) -> str | None:
    if isinstance(dtype, type) and dtype in _OF_PYTHON:
        return _OF_PYTHON[dtype]
    library = type(dtype).__module__.partition(".")[0]
    name = dtype if isinstance(dtype, str) else str(dtype)
    if library == "pyarrow":
        # Its "float" has 32 bits.
        name = {"float": "float32", "double": "float64"}.get(name, name)
        if name.startswith("dictionary<values=string"):
            return "dictionary"
    known = _known(name)
    if known is not None or library == "pyarrow":
        return known
    return _of_numpy(dtype)


def _known(name: str) -> str | None:
    """Looks a type up by its name alone; pandas and polars write some with capitals."""
    for one in (name, name.lower()):
        if one in TYPES:
            return one
        if one in _ALIASES:
            return _ALIASES[one]
    return None


def _of_numpy(dtype: Any) -> str | None:
    try:
        from swath._numpy import np
    except ImportError:
        return None
    if isinstance(dtype, type) and not issubclass(dtype, np.generic):
        # To numpy, every class means a column of objects.
        return None
    try:
        found = np.dtype(dtype)
    except TypeError:
        return None
    if found.kind in "UO":
        return "text"
    return _known(str(found.newbyteorder("=").name))
