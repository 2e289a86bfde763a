"""Tables as people have them: what we make of each, and what pandas, polars, pyarrow and duckdb do.

`docs/guide/tables-differences.md` has a row for each. Peers are called as their users call them first;
polars looks for dates because it is asked to.
"""

from __future__ import annotations

import csv
import datetime
import io
from pathlib import Path
from typing import Any, NamedTuple

import battery
import pytest
import table_peers as peers

for name in peers.READERS:
    pytest.importorskip(name)
hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "tables-differences.md"

#: Versions of the peers that the page describes: others may read a case in another way.
VERSIONS = {
    "pandas": "3.1.1",
    "polars": "2.1.0",
    "pyarrow": "26.0.1",
    "duckdb": "2.0.1",
}

HASH: dict[str, Any] = {"comment": "#"}
HASH_OF_PEERS: dict[str, Any] = {
    "pandas": {"comment": "#"}, "polars": {"comment_prefix": "#"}, "duckdb": {"comment": "#"},
}


class Case(NamedTuple):
    """A table, and what each library makes of it: ``=`` is "as we do"."""

    name: str
    text: bytes
    ours: str
    pandas: str = "="
    polars: str = "="
    pyarrow: str = "="
    duckdb: str = "="
    has_names: bool = False
    options: dict[str, Any] = {}
    how: dict[str, Any] = {}
    why: str = ""


CASES = [
    # Numbers
    Case(
        "leading zeros", b"zip,n\n01234,1\n98765,2\n", 'text "01234" "98765"; i64 1 2',
        pandas="i64 1234 98765; i64 1 2", polars="i64 1234 98765; i64 1 2",
        pyarrow="i64 1234 98765; i64 1 2",
        why="article numbers and postal codes keep their zeros; `types` makes numbers of them",
    ),
    Case(
        "leading zeros of decimals", b"x\n00.5\n1.5\n", 'text "00.5" "1.5"',
        pandas="f64 0.5 1.5", polars="f64 0.5 1.5", pyarrow="f64 0.5 1.5", why="as above",
    ),
    Case(
        "a plus sign before a whole number", b"x\n+49\n2\n", 'text "+49" "2"',
        pandas="i64 49 2", pyarrow="f64 49 2",
        why="it may be a telephone number; before a decimal it is a sign",
    ),
    Case(
        "minus zero", b"x\n-0\n1\n", "f64 -0 1",
        pandas="i64 0 1", polars="i64 0 1", pyarrow="i64 0 1", duckdb="i64 0 1",
        why="integers have no sign of zero, doubles do",
    ),
    Case(
        "above 2^63", b"x\n9223372036854775808\n1\n", "u64 9223372036854775808 1",
        polars="i128 9223372036854775808 1", pyarrow="f64 9.223372036854776e+18 1",
        duckdb="i128 9223372036854775808 1", why="a type of 64 bits holds all values",
    ),
    Case(
        "above 2^64", b"x\n18446744073709551616\n1\n", 'text "18446744073709551616" "1"',
        pandas="object 18446744073709551616 1", polars="i128 18446744073709551616 1",
        pyarrow="f64 1.8446744073709552e+19 1", duckdb="i128 18446744073709551616 1",
        why="as a double it would be another number, and Arrow has no integer of 128 bits",
    ),
    Case(
        "above 2^63 and negative",
        b"x\n-1\n9223372036854775808\n",
        'text "-1" "9223372036854775808"',
        polars="i128 -1 9223372036854775808", pyarrow="f64 -1 9.223372036854776e+18",
        duckdb="i128 -1 9223372036854775808", why="as above",
    ),
    Case(
        "above 2^53 beside a decimal",
        b"x\n9007199254740993\n1.5\n",
        'text "9007199254740993" "1.5"',
        pandas="f64 9007199254740992.0 1.5", polars="f64 9007199254740992.0 1.5",
        pyarrow="f64 9007199254740992.0 1.5", duckdb="f64 9007199254740992.0 1.5",
        why="as a double it would be another number",
    ),
    Case(
        "above all doubles", b"x\n1e400\n1.5\n", 'text "1e400" "1.5"',
        pandas="f64 inf 1.5", polars="f64 inf 1.5", pyarrow="f64 inf 1.5", duckdb="f64 inf 1.5",
        why="infinity is another number",
    ),
    Case(
        "`nan` and `inf`", b"x\n1.5\nnan\n-inf\n", "f64 1.5 nan -inf",
        pandas="f64 1.5 - -inf", polars='text "1.5" "nan" "-inf"', pyarrow="f64 1.5 - -inf",
        why="they are doubles; NaN is a value, not a missing one",
    ),
    Case(
        "blanks around numbers", b"a,b\n 1,2.5 \n3,4.5\n", "i64 1 3; f64 2.5 4.5",
        polars='text " 1" "3"; text "2.5 " "4.5"', duckdb='i64 1 3; text "2.5 " "4.5"',
        why="blanks are no part of a number",
    ),
    Case(
        "blanks inside the quotes of a number", b'a\n" 1"\n2\n', 'text " 1" "2"',
        pandas="i64 1 2", pyarrow="i64 1 2", duckdb="i64 1 2",
        why="what is in quotes is meant as it is",
    ),
    Case(
        "numbers in quotes", b'a,b\n"1",x\n"2",y\n', 'i64 1 2; text "x" "y"',
        why="quotes keep delimiters apart, they do not make text",
    ),
    Case(
        "hexadecimal", b"a\n0x10\n0x11\n", 'text "0x10" "0x11"',
        pyarrow="i64 16 17", duckdb="i64 16 17", why="it may be a key",
    ),
    Case(
        "groups of thousands in quotes", b'a\n"1,234"\n"5,678"\n', 'text "1,234" "5,678"',
        why="a comma may be a point elsewhere; `thousands` reads them",
    ),
    Case(
        "a wrong group of thousands", b'a\n"1,234"\n"12,34"\n', 'text "1,234" "12,34"',
        pandas="i64 1234 1234", duckdb="i64 1234 1234", options={"thousands": ","},
        how={"pandas": {"thousands": ","}, "duckdb": {"thousands": ","}},
        why="`12,34` may be a decimal number",
    ),
    Case(
        "digits of other scripts", b"a\n\xef\xbc\x91\n\xef\xbc\x92\n", 'text "１" "２"',
        polars="error", why="only 0 to 9 are digits",
    ),
    # Missing values
    Case(
        "`NA` among numbers", b"x\n1\nNA\n2\n", "i64 1 - 2",
        pandas="f64 1 - 2", polars='text "1" "NA" "2"', duckdb='text "1" "NA" "2"',
        why="R and pandas write it; integers stay integers",
    ),
    Case(
        "`null` among numbers", b"x\n1\nnull\n2\n", "i64 1 - 2",
        pandas="f64 1 - 2", polars='text "1" "null" "2"', duckdb='text "1" "null" "2"',
        why="SQL and JSON write it",
    ),
    Case(
        "`#N/A`, `n/a`, `-`", b"x\n1\n#N/A\nn/a\n-\n", 'text "1" "#N/A" "n/a" "-"',
        pandas='text "1" - - "-"', why="they are missing if `null_values` has them",
    ),
    Case(
        "`NA` among texts", b"t\nNA\nUS\n", 'text - "US"',
        polars='text "NA" "US"', pyarrow='text "NA" "US"', duckdb='text "NA" "US"',
        why="one rule for all types",
    ),
    Case(
        "`NA` in quotes among texts", b't\n"NA"\nUS\n', 'text "NA" "US"',
        pandas='text - "US"', why="Namibia: what is in quotes is a text",
    ),
    Case(
        "`None` and `nan` among texts", b"t\nNone\nnan\nx\n", 'text "None" "nan" "x"',
        pandas='text - - "x"', why="they are words of a language",
    ),
    Case(
        '`""` among texts', b't,n\n"",1\n,2\nx,3\n', 'text "" - "x"; i64 1 2 3',
        pandas='text - - "x"; i64 1 2 3', pyarrow='text "" "" "x"; i64 1 2 3',
        duckdb='text - - "x"; i64 1 2 3', why='`""` is the empty text, nothing is missing',
    ),
    Case(
        '`""` among numbers', b't,n\n"",1\n5,2\n', "i64 - 5; i64 1 2",
        pandas="f64 - 5; i64 1 2", polars='text "" "5"; i64 1 2', why="there is no empty number",
    ),
    Case(
        "blanks only, among texts", b"n,t\n1,x\n2,  \n", 'i64 1 2; text "x" -',
        pandas='i64 1 2; text "x" "  "', polars='i64 1 2; text "x" "  "',
        pyarrow='i64 1 2; text "x" "  "', duckdb='i64 1 2; text "x" "  "',
        why="blanks around nothing are nothing",
    ),
    Case(
        "nothing but missing values", b"a,b\n1,\n2,\n", "i64 1 2; null - -",
        pandas="i64 1 2; f64 - -", polars="i64 1 2; text - -", duckdb="i64 1 2; text - -",
        why="no value says which type it is: Arrow's Null",
    ),
    Case(
        "missing among booleans", b"f\ntrue\nNA\nfalse\n", "bool true - false",
        pandas="object true - false", polars='text "true" "NA" "false"',
        duckdb='text "true" "NA" "false"', why="the type stays",
    ),
    # Booleans
    Case(
        "`yes` and `no`", b"f,n\nyes,1\nno,2\n", 'text "yes" "no"; i64 1 2',
        duckdb="bool true false; i64 1 2",
        why="they may be two of many answers; `true_values` reads them",
    ),
    Case(
        "`T` and `F`", b"f,n\nT,1\nF,2\n", 'text "T" "F"; i64 1 2',
        duckdb="bool true false; i64 1 2", why="as above",
    ),
    Case(
        "`true` beside `1`", b"f\ntrue\n1\n", 'text "true" "1"',
        pyarrow="bool true true", why="1 is a number",
    ),
    # Dates and times
    Case(
        "dates", b"d\n2024-02-29\n1999-12-31\n", "date 2024-02-29 1999-12-31",
        pandas='text "2024-02-29" "1999-12-31"', why="ISO 8601 has one meaning",
    ),
    Case(
        "dates as in Europe", b"d\n31.12.2020\n01.02.2020\n", 'text "31.12.2020" "01.02.2020"',
        polars="date 2020-12-31 2020-02-01", duckdb="date 2020-12-31 2020-02-01",
        why="`01.02.` is February or January; `formats` says which",
    ),
    Case(
        "dates with slashes", b"d\n01/02/2020\n03/04/2020\n", 'text "01/02/2020" "03/04/2020"',
        polars="date 2020-02-01 2020-04-03", duckdb="date 2020-02-01 2020-04-03", why="as above",
    ),
    Case(
        "the year 0", b"d\n0000-01-01\n2020-01-01\n", 'text "0000-01-01" "2020-01-01"',
        polars="date 0000-01-01 2020-01-01", pyarrow="date 0000-01-01 2020-01-01",
        duckdb='date "0001-01-01 (BC)" 2020-01-01', why="Python's dates do not have it",
    ),
    Case(
        "a date beside a timestamp",
        b"d\n2020-01-01\n2020-01-01T12:00:00\n",
        "timestamp[us] 2020-01-01T00:00:00 2020-01-01T12:00:00",
        pandas='text "2020-01-01" "2020-01-01T12:00:00"',
        polars='text "2020-01-01" "2020-01-01T12:00:00"',
        pyarrow="timestamp[s] 2020-01-01T00:00:00 2020-01-01T12:00:00",
        duckdb='text "2020-01-01" "2020-01-01T12:00:00"', why="the date is midnight",
    ),
    Case(
        "nine digits of a second",
        b"t\n2020-01-01T12:00:00.123456789\n",
        "timestamp[ns] 2020-01-01T12:00:00.123456789",
        pandas='text "2020-01-01T12:00:00.123456789"',
        polars="timestamp[us] 2020-01-01T12:00:00.123456",
        duckdb="timestamp[us] 2020-01-01T12:00:00.123456", why="nothing is cut off",
    ),
    Case(
        "nine digits in the year 1600",
        b"t\n1600-01-01T12:00:00.123456789\n",
        'text "1600-01-01T12:00:00.123456789"',
        polars="timestamp[us] 1600-01-01T12:00:00.123456",
        duckdb="timestamp[us] 1600-01-01T12:00:00.123456",
        why="64 bits of nanoseconds begin in 1677",
    ),
    Case(
        "a leap second",
        b"t\n2016-12-31T23:59:60\n2017-01-01T00:00:00\n",
        'text "2016-12-31T23:59:60" "2017-01-01T00:00:00"',
        polars="timestamp[us] 2017-01-01T00:00:00 2017-01-01T00:00:00",
        why="Arrow has none: the next second is another one",
    ),
    Case(
        "two zones",
        b"t\n2020-01-01T12:00:00+01:00\n2020-01-01T12:00:00Z\n",
        "timestamp[us, UTC] 2020-01-01T11:00:00 2020-01-01T12:00:00",
        pandas='text "2020-01-01T12:00:00+01:00" "2020-01-01T12:00:00Z"',
        pyarrow="timestamp[s, UTC] 2020-01-01T11:00:00 2020-01-01T12:00:00", why="stored as UTC",
    ),
    Case(
        "a zone and none",
        b"t\n2020-01-01T12:00:00Z\n2020-01-01T12:00:00\n",
        'text "2020-01-01T12:00:00Z" "2020-01-01T12:00:00"',
        duckdb="timestamp[us, UTC] 2020-01-01T12:00:00 2020-01-01T12:00:00",
        why="the zone of the second is not known",
    ),
    Case(
        "times of day", b"t\n12:30:00\n13:00:00\n", 'text "12:30:00" "13:00:00"',
        polars="time 12:30:00 13:00:00", pyarrow="time 12:30:00 13:00:00",
        duckdb="time 12:30:00 13:00:00", why="there is no such type yet",
    ),
    Case(
        "a date without a leading zero", b"d\n2024-1-5\n2024-1-6\n", 'text "2024-1-5" "2024-1-6"',
        polars="date 2024-01-05 2024-01-06", duckdb="date 2024-01-05 2024-01-06",
        why="ISO 8601 has two digits; `formats` reads `%Y-%m-%d` of one",
    ),
    Case(
        "a day of 24 hours", b"t\n24:00:00\n12:00:00\n", 'text "24:00:00" "12:00:00"',
        duckdb='time "24:00:00" 12:00:00',
        why="there is no type for times of the day",
    ),
    Case(
        "an hour without minutes", b"t\n2024-01-01T10\n2024-01-01T11\n", 'text "2024-01-01T10" "2024-01-01T11"',
        pyarrow="timestamp[s] 2024-01-01T10:00:00 2024-01-01T11:00:00",
        why="it may be a part of a key; `formats` reads it",
    ),
    Case(
        "a zone that no place has", b"t\n2024-01-01T10:00:00+99:00\n", 'text "2024-01-01T10:00:00+99:00"',
        polars="error", duckdb="timestamp[us, UTC] 2023-12-28T07:00:00",
        why="zones go up to a day",
    ),
    Case(
        "ten digits of a second", b"t\n2024-01-01T10:00:00.1234567891\n", 'text "2024-01-01T10:00:00.1234567891"',
        polars="timestamp[us] 2024-01-01T10:00:00.123456", duckdb="timestamp[us] 2024-01-01T10:00:00.123456",
        why="nanoseconds do not hold it",
    ),
    Case(
        "a zone in letters", b"t\n2024-01-01 10:00:00 UTC\n", 'text "2024-01-01 10:00:00 UTC"',
        polars="error", duckdb="timestamp[us] 2024-01-01T10:00:00",
        why="`UTC` is a name, as `CET` is",
    ),
    Case(
        "small letters", b"t\n2024-01-01t10:00:00z\n", 'text "2024-01-01t10:00:00z"',
        polars="error",
        why="it may be a key; `formats` reads it",
    ),
    # Records and fields
    Case(
        "a short record", b"a,b\n1,2\n3,4\n5\n", "error",
        pandas="i64 1 3 5; f64 2 4 -", polars="i64 1 3 5; i64 2 4 -",
        duckdb='text "1,2" "3,4" "5"', why="it may be damage; `ragged` pads it or sets it aside",
    ),
    Case(
        "a long record", b"a,b\n1,2\n3,4,5\n", "error",
        duckdb="i64 3; i64 4; i64 5", why="as above",
    ),
    Case(
        "a delimiter at the end of data only", b"a,b\n1,2,\n3,4,\n", "error",
        pandas="i64 2 4; f64 - -", duckdb="i64 1 3; i64 2 4",
        why="values would move to other names",
    ),
    Case(
        "an empty line", b"a,b\n1,2\n\n3,4\n", "i64 1 3; i64 2 4",
        polars="i64 1 - 3; i64 2 - 4", why="it is not a record",
    ),
    Case(
        "an empty line in one column", b"a\n1\n\n3\n", "i64 1 3",
        polars="i64 1 - 3", duckdb="i64 1 - 3", why="the same: a missing value is written `NA`",
    ),
    Case(
        "`\\r` alone", b"a,b\r1,2\r3,4\r", "error",
        pandas="i64 1 3; i64 2 4", polars="text; text; text; text", pyarrow="i64 1 3; i64 2 4",
        duckdb="i64 1 3; i64 2 4", why="files of the last century are refused, not lost",
    ),
    Case(
        "`\\r` inside a line", b"a,b\n1,x\ry\n", "error",
        pandas='text "1" "y"; text "x" -', polars='i64 1; text "x\\ry"', why="as above",
    ),
    Case(
        "`#` among numbers", b"a\n#1\n2\n", "i64 2",
        pandas='text "#1" "2"', polars='text "#1" "2"', pyarrow='text "#1" "2"', duckdb='text "#1" "2"',
        why="no number begins so; `comment` reads it, and the report counts such lines",
    ),
    Case(
        "`#` among texts", b"a\n#red\nblue\n", 'text "#red" "blue"',
        why="`#` begins colours and channels",
    ),
    Case(
        "a comment after values", b"a,b\n1 #x,2\n3,4\n", 'text "1 #x" "3"; i64 2 4',
        pandas="i64 1 3; f64 - 4", duckdb='text "1 " "3,4"', options=HASH, how=HASH_OF_PEERS,
        why="a comment begins its line",
    ),
    Case(
        "text after a closing quote", b'a,b\n"x"y,1\n', "error",
        pandas='text "xy"; i64 1', pyarrow='text "xy"; i64 1', duckdb='text "\\"x\\"y"; i64 1',
        why="it may be a missing delimiter",
    ),
    Case(
        "a blank after a closing quote", b'a,b\n"x" ,1\n', 'text "x"; i64 1',
        pandas='text "x "; i64 1', polars="error", pyarrow='text "x "; i64 1',
        why="blanks after quotes are not part of the text",
    ),
    Case(
        "a blank before a quote", b'a,b\n1, "x"\n', 'i64 1; text " \\"x\\""',
        duckdb='i64 1; text "x"', why="a quote that is not first is an ordinary byte",
    ),
    Case(
        "quotes inside a field", b'a,b\n5" disk,1\n', 'text "5\\" disk"; i64 1',
        polars="error", why="as above",
    ),
    Case(
        "a quote that is never closed", b'a,b\n"x,1\ny,2\n', "error",
        duckdb='text "\\"x" "y"; i64 1 2', why="the error names the line of the quote",
    ),
    Case(
        "a backslash before a quote", b'a,b\n"x\\"y",1\n', "error",
        pandas='text "x\\\\y\\""; i64 1', pyarrow='text "x\\\\y\\""; i64 1',
        duckdb='text "x\\"y"; i64 1',
        why="only with `escape`; without, it is text after a closing quote",
    ),
    Case(
        "single quotes", b"a,b\n'x,y',1\n'z',2\n", "error",
        pandas='"" index "\'x" "\'z\'"; "a" text "y\'" "2"; "b" f64 1 -', duckdb='"a" text "x,y" "z"; "b" i64 1 2',
        has_names=True, why="`quote` says so",
    ),
    Case(
        "a line alone", b"5\n", '"column_1" i64 5',
        pandas='"5" object', polars='"5" text', pyarrow='"5" null', duckdb='"column0" i64 5',
        has_names=True, why="alone in its file, a value is data",
    ),
    Case(
        "a total on the first line", b"Total,100\nRent,50\n", '"column_1" text "Total" "Rent"; "column_2" i64 100 50',
        pandas='"Total" text "Rent"; "100" i64 50', polars='"Total" text "Rent"; "100" i64 50', pyarrow='"Total" text "Rent"; "100" i64 50', duckdb='"column0" text "Total" "Rent"; "column1" i64 100 50',
        has_names=True, why="no name stands over values of its kind; `header` says otherwise",
    ),
    Case(
        "a note above a table of text", b"% made by hand\nid,town\n1,Oslo\n", "error",
        pandas='"" index "id" "1"; "% made by hand" text "town" "Oslo"', duckdb='"id" i64 1; "town" text "Oslo"',
        has_names=True, why="`skip_rows` or `comment` leaves it out",
    ),
    Case(
        "names after `#`", b"#id,v\n1,2\n3,4\n", '"column_1" i64 1 3; "column_2" i64 2 4',
        pandas='"#id" i64 1 3; "v" i64 2 4', polars='"#id" i64 1 3; "v" i64 2 4', pyarrow='"#id" i64 1 3; "v" i64 2 4', duckdb='"#id" i64 1 3; "v" i64 2 4',
        has_names=True, why="in a table of numbers it begins a comment, which is counted; `comment` says otherwise",
    ),
    # Files
    Case(
        "semicolons", b"a;b\n1;2\n", "i64 1; i64 2",
        pandas='text "1;2"', polars='text "1;2"', pyarrow='text "1;2"',
        why="delimiters are found",
    ),
    Case(
        "`sep=;` of Excel", b"sep=;\na;b\n1;2\n", "i64 1; i64 2",
        pandas='text "a;b" "1;2"', polars='text "a;b" "1;2"', pyarrow='text "a;b" "1;2"',
        duckdb='text "a" "1"; text "b" "2"', why="it is honoured, not read as a name",
    ),
    Case(
        "semicolons and decimal commas", b"a;b\n1,5;2\n2,5;3\n", 'text "1,5" "2,5"; i64 2 3',
        pandas='text "5;2" "5;3"', polars="error", pyarrow="error",
        why="numbers only with `decimal`: `1,5` may be two things",
    ),
    Case(
        "numbers between blanks", b"1.5  2\n10   20\n", "f64 1.5 10; i64 2 20",
        pandas='text "10   20"', polars='text "10   20"', pyarrow='text "10   20"',
        duckdb='text "10   20"', why="found if all fields are numbers",
    ),
    Case(
        "Latin-1", b"a,b\n1,Jos\xe9\n", "error",
        pyarrow="i64 1; binary b'Jos\\xe9'", why="bytes are not guessed; `encoding` reads them",
    ),
    Case(
        "UTF-16 with its mark",
        b"\xff\xfea\x00,\x00b\x00\n\x001\x00,\x00\xe9\x00\n\x00",
        'i64 1; text "é"',
        pandas="error", polars="error", pyarrow="error", duckdb="error",
        why="the mark says what it is",
    ),
    Case(
        "a word after 30,000 numbers", b"a\n" + b"1\n" * 30_000 + b"x\n", 'text "1" "1" … "x"',
        polars="error", duckdb="error", why="the type is that of all values",
    ),
    Case(
        "no header", b"1,2\n3,4\n", '"column_1" i64 1 3; "column_2" i64 2 4',
        pandas='"1" i64 3; "2" i64 4', polars='"1" i64 3; "2" i64 4',
        pyarrow='"1" i64 3; "2" i64 4', duckdb='"column0" i64 1 3; "column1" i64 2 4',
        has_names=True, why="numbers are no names",
    ),
    Case(
        "years in a header",
        b"country,2020,2021\nPeru,1,2\n",
        '"country" text "Peru"; "2020" i64 1; "2021" i64 2',
        pandas='"country" text "Peru"; "2020" i64 1; "2021" i64 2',
        polars='"country" text "Peru"; "2020" i64 1; "2021" i64 2',
        pyarrow='"country" text "Peru"; "2020" i64 1; "2021" i64 2',
        duckdb='"column0" text "country" "Peru"; "column1" i64 2020 1; "column2" i64 2021 2',
        has_names=True, why="numbers that count on beside a text of their own are names",
    ),
    Case(
        "a name twice", b"a,a\n1,2\n", '"a" i64 1; "a_2" i64 2',
        pandas='"a" i64 1; "a.1" i64 2', polars='"a" i64 1; "a_duplicated_0" i64 2',
        pyarrow='"a" i64 1; "a" i64 2', duckdb='"a" i64 1; "a_1" i64 2', has_names=True,
        why="each column has a name of its own",
    ),
    Case(
        "a made name that exists", b"a,a,a_2\n1,2,3\n", '"a" i64 1; "a_3" i64 2; "a_2" i64 3',
        pandas='"a" i64 1; "a.1" i64 2; "a_2" i64 3',
        polars='"a" i64 1; "a_duplicated_0" i64 2; "a_2" i64 3',
        pyarrow='"a" i64 1; "a" i64 2; "a_2" i64 3',
        duckdb='"a" i64 1; "a_1" i64 2; "a_2" i64 3', has_names=True,
        why="the names of the file stay",
    ),
    Case(
        "an empty name", b",x\n0,1\n1,2\n", '"column_1" i64 0 1; "x" i64 1 2',
        pandas='"Unnamed: 0" i64 0 1; "x" i64 1 2', polars='"" i64 0 1; "x" i64 1 2',
        pyarrow='"" i64 0 1; "x" i64 1 2', duckdb='"column0" i64 0 1; "x" i64 1 2',
        has_names=True, why="its position names it",
    ),
    Case(
        "blanks around names", b" a , b \n1,2\n", '"a" i64 1; "b" i64 2',
        pandas='" a " i64 1; " b " i64 2', polars='" a " i64 1; " b " i64 2',
        pyarrow='" a " i64 1; " b " i64 2', has_names=True, why="blanks are no part of a name",
    ),
    Case(
        "names only", b"a,b\n", '"a" null; "b" null',
        pandas='"a" object; "b" object', polars='"a" text; "b" text',
        duckdb='"a" text; "b" text', has_names=True, why="no value says which type it is",
    ),
    Case("an empty file", b"", "error", duckdb="text", why="no records may be a file that was cut"),
]


def ids(case: Case) -> str:
    return case.name


def row(case: Case) -> str:
    """Its row on the page."""

    verdicts = {peer: getattr(case, peer) for peer in ["ours", *VERSIONS]}

    def shown(peer: str) -> str:
        """The result, or the first library with the same one."""
        verdict = verdicts[peer]
        first = next(other for other in verdicts if verdicts[other] == verdict)
        if verdict in ("=", "error"):
            return verdict
        if first == peer:
            return f"`` {verdict} ``"
        return "=" if first == "ours" else f"as {first}"

    text = case.text.decode("latin-1").replace("\r", "\\r").replace("\n", "\\n")
    is_plain = len(text) < 80 and text and case.text.isascii()
    begin = f"{case.name}: `` {text} ``" if is_plain else case.name
    return " | ".join(["", begin, *map(shown, verdicts), case.why, ""]).strip()


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_peers_read_a_table_as_the_page_says(case):
    for peer, reader in peers.READERS.items():
        if installed(peer) == VERSIONS[peer]:
            wanted = getattr(case, peer)
            found = peers.verdict(reader, case.text, case.has_names, case.how.get(peer, {}))
            assert found == (case.ours if wanted == "=" else wanted), peer


def installed(peer: str) -> str:
    from importlib.metadata import version

    return version(peer)


def test_the_page_has_a_row_for_each_table_and_names_the_versions():
    page = PAGE.read_text()
    assert [row(case) for case in CASES if row(case) not in page.splitlines()] == []
    for peer, version in VERSIONS.items():
        assert f"{peer} {version}" in page


def test_whatever_differs_has_a_reason():
    assert all(case.why for case in CASES)
    assert len({case.name for case in CASES}) == len(CASES)


needs_us = pytest.mark.skipif(not peers.has_typed_tables(), reason="read_csv reads numbers only")


@needs_us
@pytest.mark.parametrize("case", CASES, ids=ids)
def test_we_read_a_table_as_the_page_says(case):
    assert peers.verdict(peers.ours, case.text, case.has_names, case.options) == case.ours


#: Types as `swath` calls them, where that is another word.
NAMES = {"i64": "int64", "f64": "float64"}

# What all libraries agree on, if they know the types: tables that `csv` writes.

LETTERS = st.sampled_from(list("ab zéß日,;\"'\n#\\-01"))
TEXTS = st.text(LETTERS, min_size=1, max_size=15).filter(lambda text: text == text.strip())
DAYS = st.dates(datetime.date(1900, 1, 1), datetime.date(2200, 1, 1))
MOMENTS = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2200, 1, 1))
VALUES: dict[str, Any] = {
    "i64": st.integers(-(2**63), 2**63 - 1),
    "f64": st.floats(allow_nan=False, allow_infinity=False),
    "bool": st.booleans(),
    "date": DAYS,
    "timestamp[us]": MOMENTS,
    "text": TEXTS,
}


@st.composite
def tables(draw: Any) -> tuple[list[str], list[list[Any]]]:
    """Types of columns, and their values; the first column has no missing value."""
    kinds = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=5))
    rows = draw(st.integers(1, 12))
    columns = []
    for at, kind in enumerate(kinds):
        value = VALUES[kind] if at == 0 else st.none() | VALUES[kind]
        columns.append(draw(st.lists(value, min_size=rows, max_size=rows)))
    return kinds, columns


def written(kinds: list[str], columns: list[list[Any]]) -> bytes:
    """The table as the standard library writes it, quoted where needed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([f"name{at}" for at in range(len(kinds))])
    writer.writerows([map(word, values) for values in zip(*columns, strict=True)])
    return text.getvalue().encode()


def word(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return value.isoformat(timespec="microseconds")
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def by_polars(data: bytes, kinds: list[str]) -> list[list[Any]]:
    import polars as pl

    types = {
        "i64": pl.Int64, "f64": pl.Float64, "bool": pl.Boolean, "date": pl.Date,
        "timestamp[us]": pl.Datetime("us"), "text": pl.String,
    }
    schema = {f"name{at}": types[kind] for at, kind in enumerate(kinds)}
    frame = pl.read_csv(data, schema=schema)
    return [frame[name].to_list() for name in frame.columns]


def by_pyarrow(data: bytes, kinds: list[str]) -> list[list[Any]]:
    import pyarrow as pa
    from pyarrow.csv import ConvertOptions, ParseOptions, read_csv

    types = {
        "i64": pa.int64(), "f64": pa.float64(), "bool": pa.bool_(), "date": pa.date32(),
        "timestamp[us]": pa.timestamp("us"), "text": pa.string(),
    }
    convert = ConvertOptions(
        column_types={f"name{at}": types[kind] for at, kind in enumerate(kinds)},
        null_values=[""], strings_can_be_null=True,
    )
    parse = ParseOptions(newlines_in_values=True)
    table = read_csv(io.BytesIO(data), parse_options=parse, convert_options=convert)
    return [column.to_pylist() for column in table.columns]


def by_duckdb(data: bytes, kinds: list[str]) -> list[list[Any]]:
    types = {
        "i64": "BIGINT", "f64": "DOUBLE", "bool": "BOOLEAN", "date": "DATE",
        "timestamp[us]": "TIMESTAMP", "text": "VARCHAR",
    }
    how = {
        "dtype": [types[kind] for kind in kinds],
        "delimiter": ",", "quotechar": '"', "escapechar": '"', "header": True, "lineterminator": "\\n",
    }
    return [values for _, _, values in peers.by_duckdb(data, **how)]


def by_pandas(data: bytes, kinds: list[str]) -> list[list[Any]]:
    import pandas as pd

    types = {"i64": "Int64", "f64": "float64", "bool": "boolean", "text": "str"}
    names = [f"name{at}" for at in range(len(kinds))]
    pairs = list(zip(names, kinds, strict=True))
    frame = pd.read_csv(
        io.BytesIO(data),
        dtype={name: types[kind] for name, kind in pairs if kind in types},
        parse_dates=[name for name, kind in pairs if kind not in types],
        date_format="ISO8601", keep_default_na=False, na_values=[""],
    )
    columns = []
    for name, kind in pairs:
        values = [None if pd.isna(value) else value for value in frame[name]]
        if kind == "date":
            values = [None if value is None else pd.Timestamp(value).date() for value in values]
        columns.append(values)
    return columns


@pytest.mark.parametrize("reader", [by_polars, by_pyarrow, by_duckdb, by_pandas])
@hypothesis.given(table=tables())
@hypothesis.settings(max_examples=battery.count(part=10, full=300), deadline=None)
def test_peers_read_what_the_standard_library_writes(reader, table):
    kinds, columns = table
    assert reader(written(kinds, columns), kinds) == columns


@needs_us
@hypothesis.given(table=tables())
@hypothesis.settings(max_examples=battery.count(part=60, full=600), deadline=None)
def test_we_read_what_the_standard_library_writes(table):
    kinds, columns = table
    dtypes = {at: NAMES.get(kind, kind) for at, kind in enumerate(kinds)}
    found = peers.ours(written(kinds, columns), dtypes=dtypes, header=True, delimiter=",")
    assert [peers.WORDS.get(kind, kind) for _, kind, _ in found] == kinds
    assert [values for _, _, values in found] == columns
