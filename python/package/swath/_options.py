"""The options of readers and writers, each once: its type, its default, its check, and its text for `help`.

A verb takes ``**options`` of one of these classes. Type checkers read its keywords from the class, and `takes` builds
its signature and documentation from it. An option of tables that has no text here gets the library's sentence.
"""

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, TypeVar, cast, get_args

from swath import _dialect as check
from swath._swath import PythonOutput, table_settings

_Path = str | bytes | PathLike[str] | PathLike[bytes]
_Engine = Literal["auto", "serial", "pool", "ring"]
_PageCache = Literal["auto", "keep", "drop", "bypass"]
_Progress = bool | Callable[[int, int | None], object] | None
_Verify = Literal["vote"] | _Path | None
_Durability = Literal["full", "none"]
_HardLinks = Literal["refuse", "break"]
_Replace = bool | Literal["in place"]
_Values = Literal["auto", "none", "int64", "uint64", "float32", "float64", "complex128"]
_Byte = str | bytes | None
_Words = Iterable[str] | Mapping[Any, str | Iterable[str]] | None
_Texts = Mapping[Any, str] | None
_Extent = tuple[int, int | None]

_AS_READ = "As for `read`."


class ReadOptions(TypedDict, total=False):
    """Options of all readers."""

    workers: Annotated[int, 0, "Threads; 0 chooses."]
    engine: Annotated[_Engine, "auto", _AS_READ]
    page_cache: Annotated[_PageCache, "auto", _AS_READ]
    progress: Annotated[_Progress, None, _AS_READ]
    verify: Annotated[_Verify, None, _AS_READ]
    profile: Annotated[bool, True, _AS_READ]


class ChunkOptions(ReadOptions, total=False):
    """Options of readers of whole files."""

    chunk_size: Annotated[int, 0, "Bytes of one read; 0 chooses."]


class WriteOptions(TypedDict, total=False):
    """Options of all writers."""

    durability: Annotated[_Durability, "full", "Whether to wait until the device has the output."]
    replace: Annotated[
        _Replace, True,
        """Whether an existing file may be replaced. With ``"in place"`` it is truncated and written where it is: for a
        file that is itself a mount point, or whose folder cannot be written to. That is not one step: after an error or
        a crash, the file holds a part of the new bytes.""",
    ]
    hard_links: Annotated[
        _HardLinks, "refuse",
        """How to treat a file that has other names, which keep the old bytes: refuse, or give only this name the new
        ones.""",
    ]
    workers: Annotated[int, 0, "Threads; 0 chooses."]
    progress: Annotated[
        _Progress, None,
        """``True`` shows a bar; a callable receives the bytes written and the total (``None`` if it is not known in
        advance), on Swath's threads.""",
    ]


class ExtentOptions(TypedDict, total=False):
    """Options that select the bytes of a file that are text."""

    offset: Annotated[
        int, 0, check.no_flag,
        """Where the text begins in a larger file; the text is then read into memory first. Bytes in errors and in
        ``starting_in`` count from here.""",
    ]
    length: Annotated[int | None, None, check.no_flag, "Bytes of the text; without it, all to the end of the file."]


class _RecordsOptions(ExtentOptions, total=False):
    starting_in: Annotated[_Extent | Sequence[int] | None, None]
    delimiter: Annotated[bytes | str | int | None, None]


class BytesOptions(_RecordsOptions, ChunkOptions, total=False):
    """The keywords of `read` but ``out``."""

    readonly: Annotated[bool, False]


class RecordOptions(_RecordsOptions, ReadOptions, total=False):
    """The keywords of `scan_records` but ``combine``."""

    block_size: Annotated[int, 0]
    record_limit: Annotated[int, 0]


class EntryOptions(TypedDict, total=False):
    """Options of the entries of matrices."""

    values: Annotated[
        _Values, "auto",
        """"auto" keeps the type of the file; the others convert to that type. The values of a pattern are ones of
        ``float64`` with scipy, and ``None`` without it.""",
    ]
    expand: Annotated[bool, True, "Whether to add the entries that symmetric files leave out."]
    strict: Annotated[bool, False, "Whether to refuse what the format forbids but other readers accept."]
    sort: Annotated[bool, False, "Whether to sort the entries."]
    sum_duplicates: Annotated[bool, False, "Whether to add up entries at the same place."]


class MatrixOptions(EntryOptions, ExtentOptions, ReadOptions, total=False):
    """Options of readers of matrices."""

    starting_in: Annotated[
        _Extent | None, None,
        """Only the entries that begin in these bytes of the text, as (offset, length); the last one is read to its end,
        wherever that is. If extents cover the file, each entry begins in exactly one of them. The header is read
        anyway: shape, symmetry and types are those of the file, so parts in ``coo`` can be concatenated, and those in
        ``csr`` and ``csc`` added. ``sort`` and ``sum_duplicates`` see only the part. For a file of integers, pass
        ``values=``: with "auto", a part with an integer above 2^63 - 1 is ``uint64``. The number of entries is not
        compared with the header. A dense matrix is refused, because its values do not say where they belong.""",
    ]


class _ColumnOptions(TypedDict, total=False):
    """The options of all readers of tables, also those of partitions."""

    columns: Annotated[
        Sequence[str | int] | None, None, check.columns,
        """The columns to read, in this order: by name, or by index from 0; negative indices are refused. Other columns
        are not checked. Without it, all are read.""",
    ]
    dtypes: Annotated[
        str | type | Mapping[Any, Any] | Sequence[Any] | None, None,
        """Types of the columns of a ``Table``: by name or index, one for each column of the result, or one for all
        columns, such as "text", which keeps each field as it stands. The types are "bool", "int8" to "int64", "uint8"
        to "uint64", "float32", "float64", "date", "timestamp[us]" or "timestamp[us, UTC]" (also s, ms, ns), "text",
        "dictionary", "null"; also ``int``, ``float``, ``str``, ``bool``, ``datetime.date``, ``datetime.datetime``,
        types of numpy, pandas and pyarrow, and the words of the command ("i16", "f64"; but "i8" is an error, since
        numpy's "i8" is an int64). Types of columns that are not read are ignored. `csv_dtypes` returns the types of a
        file.""",
    ]
    skip_rows: Annotated[int, 0, check.count("lines")]
    skip_footer: Annotated[
        int, 0, check.count("rows"),
        """How many of the last rows of each file to leave out, such as totals: up to 1,000,000. They may have any
        fields; empty lines and comments do not count, and a row with a line end in quotes counts once.""",
    ]
    formats: Annotated[
        _Texts, None, check.texts('pass formats={"column": "%d.%m.%Y"}'),
        """How dates and timestamps of a column are written, in the notation of ``strftime``: ``{"day": "%d.%m.%Y"}``.
        "epoch_s", "epoch_ms", "epoch_us" and "epoch_ns" are numbers since the start of 1970 in UTC.""",
    ]
    null_values: Annotated[
        _Words, None, check.null_words,
        """Fields that mean a missing value. Default: an empty field, ``NA``, ``N/A``, ``null`` and ``NULL``; in JSON
        Lines none. With ``["-"]``, an empty field is missing too; with ``[]``, no field is. In a column of text, a
        quoted field is never missing. A mapping such as ``{"score": ["-"], 2: "?"}`` gives the words of single columns,
        by name or index; other columns have the default.""",
    ]
    true_values: Annotated[
        _Words, None, check.words, "Fields that mean true, also by column. Default: ``true``, ``True``, ``TRUE``."
    ]
    false_values: Annotated[
        _Words, None, check.words, "Fields that mean false, also by column. Default: ``false``, ``False``, ``FALSE``."
    ]
    encoding: Annotated[
        Literal["auto", "utf-8", "latin-1", "utf-16le", "utf-16be"] | str, "auto", check.encoding,
        """"auto" is UTF-8, or the encoding of a byte order mark at the beginning of the file. Otherwise one of these,
        or a label of the WHATWG's Encoding Standard: "windows-1251", "shift_jis", "euc-kr", "gb18030". By that
        standard, "latin-1" and "ascii" are windows-1252.""",
    ]
    ragged: Annotated[
        Literal["error", "pad", "set-aside", "set_aside", "drop"], "error", check.one_of,
        """How to treat a row that has fewer or more fields than the table has columns, or text outside of columns of
        fixed width: "pad" makes the fields that it lacks missing values; "drop" also drops those that are too many, and
        ``table.report["dropped"]`` counts such rows; "set-aside" leaves out the row, and ``table.report`` has its line.
        In JSON Lines, "set-aside" leaves out lines that are not an object; their keys are not columns.""",
    ]
    dictionary: Annotated[
        bool, False, check.flag("for some columns dtypes={'b': 'dictionary'}", "all", "given"),
        "Whether columns of text store each distinct text once.",
    ]


class _TypeOptions(_ColumnOptions, ExtentOptions, ReadOptions, total=False):
    """The options of all readers of files."""

    rows: Annotated[int | None, None, check.count("lines")]
    encoding_errors: Annotated[
        Literal["error", "replace"], "error", check.one_of,
        """How to treat bytes that the encoding does not have: they are an error in fields that are read, or become
        U+FFFD, and ``table.report["replaced"]`` counts them.""",
    ]
    starting_in: Annotated[
        _Extent | None, None,
        """Only the rows that begin in these bytes of the text, as (offset, length); the last one is read to its end,
        wherever that is. If extents cover the file, each row begins in exactly one of them. The first line and its
        names are read anyway, and all keys of JSON Lines. A column that has no type in ``dtypes`` gets its type from
        the rows that are read, so it may differ from part to part. All earlier bytes are read too, because a quoted
        field may have line ends, unless the result is an array of all columns or you pass ``quote=None``.""",
    ]


class _RenameOptions(TypedDict, total=False):
    """The options that name columns."""

    rename: Annotated[_Texts, None, check.renamed, "New names of columns, by name or index."]


class _NameOptions(_RenameOptions, total=False):
    file_column: Annotated[str | None, None, check.name]


class _FieldOptions(TypedDict, total=False):
    """The options of all readers of text with fields."""

    header: Annotated[
        Literal["auto", "present", "absent"] | bool | int, "auto", check.header,
        "Whether the first line names the columns, or how many lines do.",
    ]
    comment: Annotated[
        _Byte, "auto", check.mark("auto", none="none"),
        """The byte that begins a line to be skipped; ``report["comments"]`` counts such lines. Default: ``#`` if all
        fields of the first lines, except the names, are numbers.""",
    ]
    decimal: Annotated[str | bytes, ".", check.mark(none="")]
    thousands: Annotated[_Byte, None, check.mark()]


class _UnionOptions(TypedDict, total=False):
    """The options of readers of several files of text with fields."""

    union_by_name: Annotated[
        bool, False, check.flag("False for files with the same columns"),
        """Whether several files may have different columns. Those with the same name are one, in the order of first
        appearance; a column that a file lacks has missing values there. Files without names are an error. Columns that
        other keywords name, also by index, are those of all files together. Columns of fixed width that are found have
        their own positions in each file.""",
    ]


class _QuoteOptions(_FieldOptions, total=False):
    """The options of all readers of CSV."""

    delimiter: Annotated[
        _Byte, None, check.delimiter,
        """One to 16 bytes, or "blanks": any run of spaces and tabs. Without it, the one of tab, ``,``, ``;`` and
        ``|`` that divides the first lines most evenly.""",
    ]
    quote: Annotated[_Byte, '"', check.mark(none="none")]
    escape: Annotated[_Byte, None, check.mark()]
    missing_words: Annotated[Sequence[str] | None, None, "Another name of ``null_values``."]


class _MissingOptions(TypedDict, total=False):
    """The options of arrays."""

    missing: Annotated[
        float | None, None, check.number,
        "The value for missing fields in an array. Default: NaN for floats; for integers a missing field is an error.",
    ]


class _BlockOptions(TypedDict, total=False):
    """The options of streams."""

    block_size: Annotated[int, 0, check.no_flag, "Approximate bytes of text of each table; 0 chooses."]


class CsvTypeOptions(_TypeOptions, _QuoteOptions, _UnionOptions, total=False):
    """The keywords of `csv_dtypes`."""

    fields: Annotated[
        int | None, None, check.count("fields"),
        """The number of fields in a row, and so of columns in the table. A header may have fewer names. Without it, the
        number of the first line.""",
    ]


class CsvOptions(CsvTypeOptions, _NameOptions, _MissingOptions, total=False):
    """The keywords of `read_csv`."""


class CsvStreamOptions(CsvTypeOptions, _NameOptions, _BlockOptions, total=False):
    """The keywords of `stream_csv`."""


class CsvPartOptions(_ColumnOptions, _QuoteOptions, _RenameOptions, _MissingOptions, total=False):
    """The keywords of `read_csv` that Dask's partitions have too."""


class FixedOptions(_TypeOptions, _FieldOptions, _NameOptions, _UnionOptions, total=False):
    """The keywords of `read_fixed`."""

    widths: Annotated[
        Sequence[int] | None, None, check.widths,
        "The widths of the columns in characters, from the start of each line and without gaps.",
    ]
    positions: Annotated[
        Sequence[tuple[int, int | None]] | None, None, check.positions,
        """Where columns are, in order: (start, end) in characters from 0, without the end itself; the last ``end`` may
        be None for the end of the line. Text outside of them is not read.""",
    ]


class FixedStreamOptions(FixedOptions, _BlockOptions, total=False):
    """The keywords of `stream_fixed`."""


class JsonOptions(_TypeOptions, _NameOptions, total=False):
    """The keywords of `read_jsonl`."""

    json_nan: Annotated[bool, False, check.flag("False for errors")]
    json_nested: Annotated[
        bool, False, check.flag("False for text"),
        """Whether objects and arrays become structs and lists of Arrow, for the libraries that take a table. On every
        level, a type holds all values of the file; values of several kinds are text.""",
    ]


class JsonStreamOptions(JsonOptions, _BlockOptions, total=False):
    """The keywords of `stream_jsonl`."""


# Parsing of the rows.


class _Option(NamedTuple):
    kind: Any
    default: Any
    check: Callable[[str, Any], Any] | None
    text: str | None


@functools.cache
def _options(kind: Any) -> dict[str, _Option]:
    """Returns the options of one of the classes, by their words."""
    found = {}
    for word, row in kind.__annotations__.items():
        type_, default, *more = get_args(row)
        checking: Any = next(filter(callable, more), None)
        if checking is check.one_of:
            checking = check.one_of(*get_args(type_))
        text = next((one for one in more if isinstance(one, str)), None)
        found[word] = _Option(type_, default, checking, text)
    return found


def filled(kind: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns all options of a class: those that were passed, and the others with their defaults."""
    return {word: options.get(word, one.default) for word, one in _options(kind).items()}


@functools.cache
def _usual() -> tuple[Any, ...]:
    return (*filled(ChunkOptions, {}).values(),)


def how(options: Mapping[str, Any]) -> tuple[Any, ...]:
    """Returns the options of reading, for the library."""
    return (*filled(ChunkOptions, options).values(),) if options else _usual()


def output(path: Any, options: Mapping[str, Any]) -> PythonOutput:
    """Returns where and how to write, for the library. Called before values are prepared, which may take long."""
    return PythonOutput(path, (*filled(WriteOptions, options).values(),))


def said(form: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a reader of tables, checked and in the library's words."""
    options = check.with_missing_words(options)
    found: dict[str, Any] = {"form": form}
    for word, given in options.items():
        one = _TABLES[word]
        if given is not one.default:
            found[word] = one.check(word, given) if one.check else given
    found["dtypes"] = check.types_of(options.get("dtypes"), found.get("columns"))
    return found


# The options of all readers of tables.
_TABLES = {
    word: one
    for kind in (CsvOptions, CsvStreamOptions, FixedStreamOptions, JsonStreamOptions)
    for word, one in _options(kind).items()
}


# Verbs.

# pandas' names of options that have another name here.
_OF_PANDAS = {
    "sep": ["delimiter="],
    "nrows": ["rows="],
    "usecols": ["columns="],
    "parse_dates": ["formats=", "dtypes="],
    "date_format": ["formats="],
    "names": ["rename="],
    "na_values": ["null_values="],
    "skiprows": ["skip_rows="],
    "skipfooter": ["skip_footer="],
    "quotechar": ["quote="],
    "escapechar": ["escape="],
    "on_bad_lines": ["ragged="],
    "colspecs": ["positions="],
}
_Verb = TypeVar("_Verb", bound=Callable[..., Any])


def takes(verb: _Verb) -> _Verb:
    """Adds the keywords of a verb's options to its signature and documentation; other keywords are errors."""
    written = verb.__annotations__["options"]
    [kind] = get_args(eval(written, cast(Any, verb).__globals__))
    own = inspect.signature(verb)
    # Options of all readers come last.
    rows = dict(sorted(_options(kind).items(), key=lambda row: row[0] in ReadOptions.__annotations__))
    known = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
    known += [
        inspect.Parameter(word, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.kind)
        for word, one in rows.items()
    ]
    signature = own.replace(parameters=known)

    @functools.wraps(verb)
    def checked(*given: Any, **options: Any) -> Any:
        for word in options:
            if word not in signature.parameters:
                raise TypeError(_unknown(verb, word, [*signature.parameters]))
        return verb(*given, **options)

    checked.__signature__ = signature  # type: ignore[attr-defined]
    texts = "\n".join(_explained(word, one) for word, one in rows.items())
    checked.__doc__ = verb.__doc__ and verb.__doc__.replace("    {options}", texts)
    return cast(_Verb, checked)


@functools.cache
def _explained(word: str, option: _Option) -> str:
    """Returns an option as an entry of the documentation."""
    kind = re.sub(r"\b(collections\.abc|os|typing)\.", "", inspect.formatannotation(option.kind))
    text = option.text or _sentences()[word]
    return f"    {word} : {kind} = {option.default!r}\n" + textwrap.fill(
        " ".join(text.split()), 116, initial_indent=" " * 8, subsequent_indent=" " * 8
    )


@functools.cache
def _sentences() -> dict[str, str]:
    return {word: sentence.replace("`", "``") for word, sentence in table_settings()}


def _unknown(verb: Callable[..., Any], word: str, known: list[str]) -> str:
    """Returns the error for a keyword that a verb does not have."""
    import difflib

    ours = [one for one in _OF_PANDAS.get(word, ()) if one[:-1] in known]
    ours = ours or [f"{one}=" for one in difflib.get_close_matches(word, known, 1)]
    if word == "chunksize" and "rows" in known:
        ours = [verb.__name__.replace("read_", "stream_")]
    # Modules whose names begin with _ belong to `swath`.
    where = verb.__module__.partition("._")[0]
    hint = f"use {' or '.join(ours)}" if ours else f"look at help({where}.{verb.__name__})"
    return f"{verb.__name__}() has no keyword {word}=; try: {hint}"
