"""Options of readers of tables: checked, and translated into the library's words."""

from __future__ import annotations

import codecs
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from swath._swath import encoding_word
from swath._types import type_word

_Check = Callable[[str, Any], Any]

# Python's names of encodings, and the labels of the Encoding Standard.
_ENCODINGS = {
    "utf-8-sig": "utf-8",
    "utf-16-le": "utf-16le",
    "utf-16-be": "utf-16be",
    "iso2022-jp": "iso-2022-jp",
    "cp874": "windows-874",
    "cp932": "shift_jis",
    "cp936": "gbk",
    "cp949": "euc-kr",
    "cp950": "big5",
    "mac-roman": "macintosh",
    "mac-cyrillic": "x-mac-cyrillic",
}


def with_missing_words(options: Mapping[str, Any]) -> dict[str, Any]:
    """Replaces ``missing_words`` by ``null_values``."""
    found = dict(options)
    words = found.pop("missing_words", None)
    if words is None:
        return found
    if found.get("null_values") is not None:
        raise TypeError(
            "missing_words= and null_values= are the same; try: leave out missing_words="
        )
    return {**found, "null_values": words}


# Checks of options. Each returns the library's form of the value.


def header(_: str, header: Any) -> int | str:
    """Returns the number of lines that name the columns, or "auto"."""
    if isinstance(header, bool):
        return int(header)
    if header in ("present", "absent"):
        return int(header == "present")
    if header == "auto":
        return "auto"
    try:
        lines = operator.index(header)
    except TypeError:
        raise TypeError(
            f'header={header!r}: not one of "auto", True, False and a number of lines; try: pass '
            "header=False for a table without names"
        ) from None
    if lines < 1:
        # In pandas, this means the first line.
        raise ValueError(
            f"header={header!r}: not a number of lines; try: pass True if the first line has the names, "
            "False if there are no names"
        )
    return lines


def columns(_: str, columns: Any) -> list[str | int]:
    """Returns columns by name or index."""
    if isinstance(columns, Mapping):
        raise TypeError(
            f"columns={columns!r}: a mapping, not a sequence of names and indices; try: pass new names as "
            "rename={'old': 'new'}, and columns=['old']"
        )
    check_order("columns", columns)
    if isinstance(columns, (str, bytes, int)) or not hasattr(columns, "__iter__"):
        raise TypeError(
            f"columns={columns!r}: not a sequence of names and indices; try: pass "
            f"columns=[{columns!r}]"
        )
    return [key_of(one) for one in columns]


def check_order(what: str, given: Any) -> None:
    """Fails for a set, which has no order."""
    if isinstance(given, (set, frozenset)):
        raise TypeError(f"{what}={given!r}: a set, which has no order; try: pass a list")


def key_of(one: Any, where: str = "columns=[…]") -> str | int:
    """Returns a column by name or index."""
    if isinstance(one, str):
        return str(one)
    index = _whole(one)
    if index is None:
        raise TypeError(
            f"{where}: {one!r} is neither a name nor an index; try: pass a str, or an int from 0"
        )
    if index < 0:
        raise ValueError(
            f"{where}: {one!r}: indices count from 0, the first column; try: pass the name"
        )
    if index >= 2**63:
        raise ValueError(f"{where}: {one!r}: no file has that many columns; try: pass the name")
    return index


def types_of(dtypes: Any, columns: list[str | int] | None) -> str | list[tuple[str | int, str]]:
    """Returns the types by columns of the file, in the library's words, or one for all columns."""
    if dtypes is None:
        return []
    if isinstance(dtypes, (str, type)):
        return type_word(dtypes)
    if isinstance(dtypes, Mapping):
        pairs = [(key_of(one, "dtypes={…}"), dtype) for one, dtype in dtypes.items()]
    elif isinstance(dtypes, bytes) or not isinstance(dtypes, Sequence):
        raise TypeError(
            f"dtypes={dtypes!r}: neither a dtype nor a mapping nor a sequence of dtypes; try: pass "
            'dtypes={"column": "int64"}'
        )
    elif columns is None:
        pairs = list(enumerate(dtypes))
    else:
        pairs = list(zip(columns, dtypes))
    return [(key, type_word(dtype)) for key, dtype in pairs if dtype is not None]


def renamed(word: str, rename: Any) -> Any:
    """Returns columns with their new names."""
    if callable(rename):
        raise TypeError(
            "rename= takes new names by old ones, not a function; try: pass "
            'rename={"old": "new"}'
        )
    return texts('pass rename={"old": "new"}')(word, rename)


def texts(hint: str) -> _Check:
    """Returns a check for a mapping of columns to texts."""

    def check(what: str, texts: Any) -> list[tuple[str | int, str]] | None:
        if not isinstance(texts, Mapping):
            raise TypeError(f"{what}={texts!r}: not a mapping of columns to texts; try: {hint}")
        for text in texts.values():
            if not isinstance(text, str):
                raise TypeError(f"{what}={{…}}: {text!r} is not a text; try: {hint}")
        return [(key_of(one, f"{what}={{…}}"), text) for one, text in texts.items()] or None

    return check


def words(what: str, words: Any) -> Any:
    """Returns fields, for all columns or by column; a single text for a column is one field."""
    if words is None or words == {}:
        return None
    if not isinstance(words, Mapping):
        return texts_of(what, words)
    return [(key_of(key, f"{what}={{…}}"), _of_column(what, its)) for key, its in words.items()]


def _of_column(what: str, words: Any) -> list[str]:
    is_list = isinstance(words, Iterable) and not isinstance(words, (str, bytes, Mapping))
    return _texts_only(f"{what}={{…}}", [*words] if is_list else [words])


def texts_of(what: str, given: Any) -> list[str]:
    """Returns a list of texts; a single text is an error, not a list of its letters."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise TypeError(f"{what}={given!r}: not a list of texts; try: pass {what}=[{given!r}]")
    return _texts_only(f"{what}=[…]", [*given])


def _texts_only(where: str, texts: list[Any]) -> list[str]:
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"{where}: {text!r} is not a text; try: pass it as a str, as it is in the file")
    return texts


def null_words(what: str, given: Any) -> Any:
    """Returns the fields that mean a missing value; unless there are none, the empty field is one."""
    found = words(what, given)
    if isinstance(given, Mapping):
        return found and [(key, [*its, ""] if its else its) for key, its in found]
    return [*found, ""] if found else found


def count(unit: str) -> _Check:
    """Returns a check for a number of units."""
    return lambda word, given: count_of(word, given, unit)


def _whole(given: Any) -> int | None:
    """Returns an integer, or ``None`` for anything else, such as a flag."""
    try:
        return None if isinstance(given, bool) else operator.index(given)
    except TypeError:
        return None


def count_of(what: str, count: Any, unit: str) -> int:
    """Returns a number from 0."""
    found = _whole(count)
    if found is None or not 0 <= found < 2**63:
        raise (TypeError if found is None else ValueError)(
            f"{what}={count!r}: not a number of {unit}; try: pass an int from 0"
        )
    return found


def no_flag(word: str, given: Any) -> Any:
    """Fails for a flag as a number of bytes: Python takes True for 1."""
    if isinstance(given, bool):
        raise TypeError(f"{word}={given!r}: not a number of bytes; try: pass an int from 0")
    return given


def number(word: str, given: Any) -> Any:
    """Fails for a flag as a number."""
    if isinstance(given, bool):
        raise TypeError(f"{word}={given!r}: not a number; try: pass a float")
    return given


def name(word: str, given: Any) -> str:
    """Returns the name of a column."""
    if not isinstance(given, str):
        raise TypeError(f"{word}={given!r}: not the name of a column; try: pass a str")
    return given


def flag(other: str, yes: str = "yes", no: str = "no") -> _Check:
    """Returns a check for True or False."""

    def check(word: str, given: Any) -> str:
        if not isinstance(given, bool) and type(given).__name__ not in ("bool", "bool_"):
            raise TypeError(f"{word}={given!r}: neither True nor False; try: pass True, or {other}")
        return yes if given else no

    return check


def one_of(*words: str) -> _Check:
    """Returns a check for one of some words; ``_`` in it becomes ``-``."""

    def check(name: str, given: Any) -> str:
        if given not in words:
            listed = ", ".join(f'"{word}"' for word in words if "_" not in word)
            kind = ValueError if isinstance(given, str) else TypeError
            raise kind(f'{name}="{given}": not one of {listed}')
        return str(given).replace("_", "-")

    return check


def encoding(_: str, encoding: Any) -> str:
    """Returns the library's word for an encoding."""
    if encoding == "auto":
        return "auto"
    try:
        name = codecs.lookup(encoding).name.replace("_", "-")
    except (LookupError, TypeError):
        name = ""
    if name == "utf-16":
        raise ValueError(
            f'encoding={encoding!r}: which byte of a unit is first? try: pass "auto" for a file that begins '
            'with a mark, or "utf-16le" or "utf-16be"'
        )
    labels = (_ENCODINGS.get(name, name), encoding)
    found = next((word for one in labels if isinstance(one, str) and (word := encoding_word(one))), None)
    if found is None:
        raise ValueError(
            f"encoding={encoding!r}: not an encoding of the WHATWG's Encoding Standard, nor \"auto\"; try: convert "
            "the file with `iconv -t UTF-8`"
        )
    return found


def delimiter(word: str, given: Any) -> str | None:
    """Returns the delimiter of fields: one byte, or several, which the library checks."""
    found = given.decode() if isinstance(given, bytes) else given
    is_long = isinstance(found, str) and len(found.encode()) > 1
    return found if is_long else mark()(word, found)


def mark(*words: str, none: str | None = None) -> _Check:
    """Returns a check for one character that means something, or one of the words."""

    def check(word: str, given: Any) -> str | None:
        if isinstance(given, str) and given in words:
            return given
        one = byte(word, given)
        return none if one is None else chr(one)

    return check


def byte(name: str, text: str | bytes | None) -> int | None:
    """Returns the value of one byte."""
    if text is None:
        return None
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"{name}={text!r}: not a str or bytes; try: pass one byte")
    if len(encoded := text.encode() if isinstance(text, str) else text) != 1:
        raise ValueError(f"{name}={text!r}: not one byte; try: pass a single ASCII character")
    return encoded[0]


def widths(word: str, given: Any) -> str:
    """Returns the widths of columns as text."""
    return ",".join(_place("widths=[…]", width) for width in _listed(word, given))


def positions(word: str, given: Any) -> str:
    """Returns the positions of columns as text."""
    return ",".join(_pair(pair) for pair in _listed(word, given))


def _listed(what: str, given: Any) -> list[Any]:
    if isinstance(given, (str, bytes, int, Mapping, set, frozenset)) or not isinstance(given, Iterable):
        usual = "widths=[10, 5, 8]" if what == "widths" else "positions=[(0, 10), (12, None)]"
        raise TypeError(f"{what}={given!r}: not a list; try: pass {usual}, or nothing to find the columns")
    return [*given]


def _pair(pair: Any) -> str:
    where = "positions=[…]"
    if isinstance(pair, (str, bytes)) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise TypeError(f"{where}: {pair!r} is not a start and an end; try: pass (start, end), or (start, None)")
    start, end = pair
    return f"{_place(where, start)}..{'' if end is None else _place(where, end)}"


def _place(where: str, place: Any) -> str:
    found = _whole(place)
    if found is None:
        raise TypeError(f"{where}: {place!r} is not a number of characters; try: pass an int")
    if not 0 <= found < 2**63:
        raise ValueError(f"{where}: {place!r} is not a position in a line; try: pass an int from 0")
    return str(found)
