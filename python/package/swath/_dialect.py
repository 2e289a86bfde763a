"""How the text of a table is written, and what to read of it: checked, and in the words of the library."""

from __future__ import annotations

import codecs
import functools
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from swath._swath import encoding_word
from swath._types import type_word

# Labels of the Encoding Standard by other names that Python has for them.
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


def said(
    *,
    columns: Any,
    dtypes: Any,
    delimiter: Any,
    header: Any,
    comment: Any,
    quote: Any,
    escape: Any,
    skip_rows: Any,
    skip_footer: Any,
    rows: Any,
    rename: Any,
    formats: Any,
    null_values: Any,
    true_values: Any,
    false_values: Any,
    decimal: Any,
    thousands: Any,
    encoding: Any,
    encoding_errors: Any,
    ragged: Any,
    fields: Any,
    dictionary: Any,
    file_column: Any,
    json_nan: Any = False,
    json_nested: Any = False,
    union_by_name: Any = False,
    offset: Any,
    length: Any,
    starting_in: Any,
    missing: Any = None,
    block_size: Any = 0,
    form: Any = "csv",
) -> dict[str, Any]:
    """Everything that a reader of tables takes."""
    if isinstance(missing, bool):
        raise TypeError(f"missing={missing!r}: not a number; try: pass a float")
    keys = None if columns is None else keys_of(columns)
    names = None if rename is None else _renamed(rename)
    if file_column is not None and not isinstance(file_column, str):
        raise TypeError(
            f"file_column={file_column!r}: not the name of a column; try: pass a str"
        )
    return {
        "columns": keys,
        "dtypes": types_of(dtypes, keys),
        "formats": _texts("formats", formats, 'pass formats={"column": "%d.%m.%Y"}') or None,
        "rename": names or None,
        "delimiter": _delimiter(delimiter),
        "header": header_lines(header),
        "comment": comment if comment == "auto" else _mark("comment", comment) or "none",
        "quote": _mark("quote", quote) or "none",
        "escape": _mark("escape", escape),
        "skip_rows": count_of("skip_rows", skip_rows, "lines"),
        "skip_footer": count_of("skip_footer", skip_footer, "rows"),
        "rows": None if rows is None else count_of("rows", rows, "lines"),
        "null_values": null_words(null_values),
        "true_values": _words("true_values", true_values),
        "false_values": _words("false_values", false_values),
        "decimal": _mark("decimal", decimal) or "",
        "thousands": _mark("thousands", thousands),
        "encoding": _encoding(encoding),
        "encoding_errors": _one_of("encoding_errors", encoding_errors, "error", "replace"),
        "ragged": _one_of("ragged", ragged, "error", "pad", "set_aside", "drop"),
        "fields": None if fields is None else count_of("fields", fields, "fields"),
        "dictionary": "all" if _flag("dictionary", dictionary, "for some columns dtypes={'b': 'dictionary'}") else "given",
        "file_column": file_column,
        "json_nan": "yes" if _flag("json_nan", json_nan, "False for errors") else "no",
        "json_nested": "yes" if _flag("json_nested", json_nested, "False for text") else "no",
        "union_by_name": "yes" if _flag("union_by_name", union_by_name, "False for files with the same columns") else "no",
        **no_flags(offset=offset, length=length, block_size=block_size),
        "starting_in": starting_in,
        # For an array.
        "missing": missing,
        "form": form,
        # For text of fixed width.
        "widths": None,
        "positions": None,
    }


def header_lines(header: Any) -> int | str:
    """The lines that name the columns, or "auto"."""
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
        # For pandas this is the first line.
        raise ValueError(
            f"header={header!r}: not a number of lines; try: pass True if the first line has the names, "
            "False if there are no names"
        )
    return lines


def keys_of(columns: Any) -> list[str | int]:
    """Columns by name or index."""
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
    """Fails for a set, whose order is not the caller's."""
    if isinstance(given, (set, frozenset)):
        raise TypeError(f"{what}={given!r}: a set, which has no order; try: pass a list")


def key_of(one: Any, where: str = "columns=[…]") -> str | int:
    """A column by name or index."""
    if isinstance(one, str):
        return str(one)
    try:
        index = None if isinstance(one, bool) else operator.index(one)
    except TypeError:
        index = None
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
    """The types by the columns of the file, in the library's words; or one for all columns."""
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


def check_types(dtypes: Any, count: int) -> None:
    """Fails if a sequence of dtypes is not one for each of the columns."""
    if isinstance(dtypes, Sequence) and not isinstance(dtypes, str) and len(dtypes) != count:
        raise ValueError(
            f"dtypes=[…] has {len(dtypes)} types for {count} columns; try: pass one for each "
            "column of the result, or a dict"
        )


def _renamed(rename: Any) -> list[tuple[str | int, str]]:
    if callable(rename):
        raise TypeError(
            "rename= takes new names by old ones, not a function; try: pass "
            'rename={"old": "new"}'
        )
    return _texts("rename", rename, 'pass rename={"old": "new"}')


def _texts(what: str, texts: Any, hint: str) -> list[tuple[str | int, str]]:
    """Texts by columns."""
    if texts is None:
        return []
    if not isinstance(texts, Mapping):
        raise TypeError(f"{what}={texts!r}: not a mapping of columns to texts; try: {hint}")
    for text in texts.values():
        if not isinstance(text, str):
            raise TypeError(f"{what}={{…}}: {text!r} is not a text; try: {hint}")
    return [(key_of(one, f"{what}={{…}}"), text) for one, text in texts.items()]


def _words(what: str, words: Any) -> Any:
    """Fields, or those of each column; of one column, a text alone is one field."""
    if words is None or words == {}:
        return None
    if not isinstance(words, Mapping):
        return texts_of(what, words)
    return [(key_of(key, f"{what}={{…}}"), _of_column(what, its)) for key, its in words.items()]


def _of_column(what: str, words: Any) -> list[str]:
    is_list = isinstance(words, Iterable) and not isinstance(words, (str, bytes, Mapping))
    return _texts_only(f"{what}={{…}}", [*words] if is_list else [words])


def texts_of(what: str, given: Any) -> list[str]:
    """A list of texts; one text alone is not taken for its letters."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise TypeError(f"{what}={given!r}: not a list of texts; try: pass {what}=[{given!r}]")
    return _texts_only(f"{what}=[…]", [*given])


def _texts_only(where: str, texts: list[Any]) -> list[str]:
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"{where}: {text!r} is not a text; try: pass it as a str, as it is in the file")
    return texts


def null_words(words: Any) -> Any:
    """Fields that mean a missing value: with any word, an empty field does too."""
    found = _words("null_values", words)
    if isinstance(words, Mapping):
        return found and [(key, [*its, ""] if its else its) for key, its in found]
    return [*found, ""] if found else found


# What pandas calls what has another name here.
_OF_PANDAS = {
    "sep": "delimiter=",
    "nrows": "rows=",
    "usecols": "columns=",
    "parse_dates": "formats= or dtypes=",
    "date_format": "formats=",
    "names": "rename=",
    "na_values": "null_values=",
    "skiprows": "skip_rows=",
    "skipfooter": "skip_footer=",
    "quotechar": "quote=",
    "escapechar": "escape=",
    "chunksize": "stream_csv",
    "on_bad_lines": "ragged=",
    "colspecs": "positions=",
}
_Verb = TypeVar("_Verb", bound=Callable[..., Any])


def with_hints(verb: _Verb) -> _Verb:
    """The same function, with an error of its own for keywords of pandas."""

    is_fixed = verb.__name__.endswith("_fixed")
    meaningless = {"sep", "quotechar", "escapechar"} if is_fixed else {"colspecs"}
    stream = "stream_fixed" if is_fixed else "stream_csv"

    @functools.wraps(verb)
    def hinting(*args: Any, **words: Any) -> Any:
        for word in (_OF_PANDAS.keys() - meaningless) & words.keys():
            use = _OF_PANDAS[word].replace("stream_csv", stream)
            raise TypeError(f"{verb.__name__}() has no keyword {word}=; try: use {use}")
        return verb(*args, **words)

    return cast(_Verb, hinting)


def count_of(what: str, count: Any, unit: str) -> int:
    """A number from 0; no flag is one."""
    try:
        found = None if isinstance(count, bool) else operator.index(count)
    except TypeError:
        found = None
    if found is None or not 0 <= found < 2**63:
        raise (TypeError if found is None else ValueError)(
            f"{what}={count!r}: not a number of {unit}; try: pass an int from 0"
        )
    return found


def no_flags(**numbers: Any) -> dict[str, Any]:
    """The same numbers of bytes; Python takes True for 1."""
    for name, number in numbers.items():
        if isinstance(number, bool):
            raise TypeError(f"{name}={number!r}: not a number of bytes; try: pass an int from 0")
    return numbers


def _flag(what: str, flag: Any, other: str) -> bool:
    if not isinstance(flag, bool) and type(flag).__name__ not in ("bool", "bool_"):
        raise TypeError(f"{what}={flag!r}: neither True nor False; try: pass True, or {other}")
    return bool(flag)


def _one_of(name: str, given: Any, *words: str) -> str:
    if given not in words:
        listed = ", ".join(f'"{word}"' for word in words)
        kind = ValueError if isinstance(given, str) else TypeError
        raise kind(f'{name}="{given}": not one of {listed}')
    return str(given).replace("_", "-")


def _encoding(encoding: Any) -> str:
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


def _delimiter(text: Any) -> str | None:
    """What separates fields: one byte, or more that the library checks."""
    found = text.decode() if isinstance(text, bytes) else text
    is_long = isinstance(found, str) and len(found.encode()) > 1
    return found if is_long else _mark("delimiter", found)


def _mark(name: str, text: str | bytes | None) -> str | None:
    """One character that means something."""
    one = byte(name, text)
    return None if one is None else chr(one)


def byte(name: str, text: str | bytes | None) -> int | None:
    """One byte."""
    if text is None:
        return None
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"{name}={text!r}: not a str or bytes; try: pass one byte")
    if len(encoded := text.encode() if isinstance(text, str) else text) != 1:
        raise ValueError(f"{name}={text!r}: not one byte; try: pass a single ASCII character")
    return encoded[0]
