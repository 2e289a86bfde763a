"""The corners of CSV: what we make of each, and what pandas, pyarrow and numpy.loadtxt do.

A peer that reads a case in another way than before is noticed here, and so is one from which we
differ without a reason. The peers get the delimiter and whether there is a header; we guess them.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import pytest

import swath

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pa_csv = pytest.importorskip("pyarrow.csv")

TEXT = "columns of text are not read: the error names the column and says what to try"
GAPS = "loadtxt has no missing values"
BLANKS = "pyarrow has no delimiter of many blanks"
RETURNS = "only newlines end lines, and blocks: a file of the last century is refused, not lost"
COMMENTS = "pyarrow has no comments"


class Case(NamedTuple):
    """A text, and its rows as everybody reads them: a dash is a missing value.

    ``error`` and ``text`` are what it says; ``=`` is "as we do".
    """

    name: str
    text: bytes
    ours: str
    sep: str | None = ","
    header: bool = False
    pandas: str = "="
    pyarrow: str = "="
    numpy: str = "="
    why: str = ""


CASES = [
    Case("commas", b"1,2\n3,4\n", "1 2; 3 4"),
    Case("a header", b"a,b\n1,2\n", "1 2", header=True),
    Case("tabs", b"1\t2\n3\t4\n", "1 2; 3 4", sep="\t"),
    Case(
        "tabs with a gap", b"1\t\t2\n3\t4\t5\n", "1 - 2; 3 4 5",
        sep="\t", numpy="error", why=GAPS,
    ),
    Case("semicolons", b"1;2\n3;4\n", "1 2; 3 4", sep=";"),
    Case("bars", b"1|2\n3|4\n", "1 2; 3 4", sep="|"),
    Case("single spaces", b"1 2\n3 4\n", "1 2; 3 4", sep=None),
    Case(
        "aligned by spaces", b"   1.000    2.000\n  10.500   -3.250\n", "1 2; 10.5 -3.25",
        sep=None, pyarrow="error", why=BLANKS,
    ),
    Case("a lone aligned column", b" 1\n 2\n", "1; 2", sep=None, pyarrow="- 1; - 2", why=BLANKS),
    Case(
        "spaces after each line", b"1 2 \n3 4 \n", "1 2; 3 4",
        sep=None, pyarrow="1 2 -; 3 4 -", why=BLANKS,
    ),
    Case("tabs beside spaces", b"1  2\n3\t4\n", "1 2; 3 4", sep=None, pyarrow="error", why=BLANKS),
    Case(
        "an aligned header", b"  x   y\n  1   2\n", "1 2",
        sep=None, header=True, pyarrow="- - 1 - - 2", why=BLANKS,
    ),
    Case(
        "aligned, carriage returns", b" 1  2\r\n 3  4\r\n", "1 2; 3 4",
        sep=None, pyarrow="- 1 - 2; - 3 - 4", why=BLANKS,
    ),
    Case(
        "aligned, blank lines", b" 1  2\n\n   \n 3  4\n", "1 2; 3 4",
        sep=None, pyarrow="- 1 - 2; - - - -; - 3 - 4", why=BLANKS,
    ),
    Case("aligned, too many", b"1 2\n 1 2 3\n", "error", sep=None),
    Case(
        "a quoted gap between blanks", b'1 ""\n3 4\n', "1 -; 3 4",
        sep=None, numpy="error", why=GAPS,
    ),
    Case("spaces around commas", b" 1 , 2\n3 ,4\n", "1 2; 3 4"),
    Case(
        "carriage returns alone", b"x\r1\r2\r3\r", "error",
        header=True, pandas="1; 2; 3", pyarrow="1; 2; 3", numpy="1; 2; 3", why=RETURNS,
    ),
    Case(
        "numbers, carriage returns alone", b"1,2\r3,4\r", "error",
        pandas="1 2; 3 4", pyarrow="1 2; 3 4", numpy="1 2; 3 4", why=RETURNS,
    ),
    Case(
        "a carriage return inside a line", b"1,2\n3\r,4\n", "error",
        pandas="1 2; 3 -; - 4", why=RETURNS,
    ),
    Case(
        "a carriage return after the last line", b"1,2\n3,4\r", "error",
        pandas="1 2; 3 4", pyarrow="1 2; 3 4", numpy="1 2; 3 4",
        why="it ends no line: what followed may be missing",
    ),
    Case("carriage return and newline", b"1,2\r\n3,4\r\n", "1 2; 3 4"),
    Case("some lines with carriage returns", b"1,2\r\n3,4\n", "1 2; 3 4"),
    Case(
        "two carriage returns and a newline", b"1,2\r\r\n3,4\r\r\n", "error",
        pandas="1 2; 3 4", pyarrow="1 2; 3 4", numpy="1 2; 3 4",
        why="the first of them is inside the line",
    ),
    Case(
        "a carriage return in a quoted name", b'"a\rb",c\n1,2\n', "1 2",
        header=True, numpy="error", why="loadtxt skips lines, quoted or not",
    ),
    Case(
        "a carriage return in a comment", b"1,2\n# c\r3,4\n5,6\n", "error",
        pandas="1 2; 3 4; 5 6", numpy="1 2; 3 4; 5 6",
        why="what follows may be a row: it is refused rather than left out",
    ),
    Case("no newline at the end", b"1,2\n3,4", "1 2; 3 4"),
    Case("blank lines", b"1,2\n\n3,4\n", "1 2; 3 4"),
    Case("a comment", b"# c\n1,2\n", "1 2", pyarrow="error", why=COMMENTS),
    Case(
        "a comment after blanks", b"1,2\n  # c\n3,4\n", "error", pandas="text",
        why="where a comma separates fields, a comment begins its line",
    ),
    Case(
        "a comment after numbers", b"1,2 # c\n3,4\n", "3 4", header=True,
    ),
    Case(
        "a byte-order mark", b"\xef\xbb\xbf1,2\n3,4\n", "1 2; 3 4",
        numpy="error", why="loadtxt reads the mark as part of the number",
    ),
    Case("a byte-order mark before names", b"\xef\xbb\xbfa,b\n1,2\n", "1 2", header=True),
    Case("quoted numbers", b'"1","2"\n"3","4"\n', "3 4", header=True),
    Case("names that look like numbers", b'"1","2"\n3,4\n', "3 4", header=True),
    Case(
        "a quoted delimiter", b'"1,2",3\n4,5\n', "4 5", header=True,
    ),
    Case(
        "a quoted newline in a name", b'"a\nb",c\n1,2\n', "1 2",
        header=True, numpy="error", why="loadtxt skips lines, quoted or not",
    ),
    Case("an open quote", b'1,"2\n3,4\n', "error"),
    Case(
        "text after a quote", b'"1"2,3\n4,5\n', "error",
        pandas="12 3; 4 5", pyarrow="12 3; 4 5", numpy="12 3; 4 5",
        why="`\"1\"2` may be damage, not twelve",
    ),
    Case(
        "a short line", b"1,2\n3\n", "error",
        pandas="1 2; 3 -", why="a row that lacks fields may be damage, not a gap",
    ),
    Case("a long line", b"1,2\n3,4,5\n", "error"),
    Case("a delimiter after each line", b"1,2,\n3,4,\n", "1 2 -; 3 4 -", numpy="error", why=GAPS),
    Case("a gap", b"1,\n,4\n", "1 -; - 4", numpy="error", why=GAPS),
    Case("nothing but gaps", b"1,2\n,\n3,4\n", "1 2; - -; 3 4", numpy="error", why=GAPS),
    Case("the word NA", b"1,2\nNA,4\n", "1 2; - 4", numpy="error", why=GAPS),
    Case("the word N/A", b"1,2\nN/A,4\n", "1 2; - 4", numpy="error", why=GAPS),
    Case("the word null", b"1,2\nnull,4\n", "1 2; - 4", numpy="error", why=GAPS),
    Case(
        "the word NULL", b"1,2\nNULL,4\n", "1 2; - 4", numpy="error",
        why="loadtxt has no words for gaps",
    ),
    Case(
        "the word None", b"1,2\nNone,4\n", "error",
        pandas="1 2; - 4", pyarrow="text", why="it is a gap if told: missing_words=[\"None\"]",
    ),
    Case("the word nan", b"1,2\nnan,4\n", "1 2; - 4"),
    Case("the word NaN", b"1,2\nNaN,4\n", "1 2; - 4"),
    Case("the word -NaN", b"1,2\n-NaN,4\n", "1 2; - 4"),
    Case("the word -", b"1,2\n-,4\n", "error", pandas="text", pyarrow="text", why=TEXT),
    Case("the number inf", b"1,2\ninf,4\n", "1 2; inf 4"),
    Case("the number -Inf", b"1,2\n-Inf,4\n", "1 2; -inf 4"),
    Case("the number Infinity", b"1,2\nInfinity,4\n", "1 2; inf 4"),
    Case("the number +inf", b"1,2\n+inf,4\n", "1 2; inf 4"),
    Case("the number +7", b"1,2\n+7,4\n", "1 2; 7 4"),
    Case(
        "the number -0", b"1,2\n-0,4\n", "1 2; -0 4",
        pandas="1 2; 0 4", pyarrow="1 2; 0 4",
        why="the others make integers of it, which have no sign of zero",
    ),
    Case("the number .5", b"1,2\n.5,4\n", "1 2; 0.5 4"),
    Case("the number 1.", b"1,2\n1.,4\n", "1 2; 1 4"),
    Case("the number 1e3", b"1,2\n1e3,4\n", "1 2; 1000 4"),
    Case("the number 1E+3", b"1,2\n1E+3,4\n", "1 2; 1000 4"),
    Case("the number 1d3", b"1,2\n1d3,4\n", "error", pandas="text", pyarrow="text", why=TEXT),
    Case(
        "the number 0x10", b"1,2\n0x10,4\n", "error",
        pandas="text", pyarrow="1 2; 16 4", why="hexadecimal digits may be a key, not a number",
    ),
    Case("the number 1_000", b"1,2\n1_000,4\n", "error", pandas="text", pyarrow="text", why=TEXT),
    Case(
        'the number "1,000"', b'1,2\n"1,000",4\n', "error",
        pandas="text", pyarrow="text", why=TEXT,
    ),
    Case("the number 1 000", b"1,2\n1 000,4\n", "error", pandas="text", pyarrow="text", why=TEXT),
    Case("the number 1e", b"1,2\n1e,4\n", "error", pandas="text", pyarrow="text", why=TEXT),
    Case(
        "the number 1e400", b"1,2\n1e400,4\n", "error",
        pandas="1 2; inf 4", pyarrow="1 2; inf 4", numpy="1 2; inf 4",
        why="no double is so large: infinity is another number",
    ),
    Case("the number 1e-400", b"1,2\n1e-400,4\n", "1 2; 0 4"),
    Case(
        "the number true", b"1,2\ntrue,4\n", "error",
        pandas="text", pyarrow="1 2; 1 4", why="a boolean may be 1 only if somebody says so",
    ),
    Case(
        "the number 2020-01-02", b"1,2\n2020-01-02,4\n", "error",
        pandas="text", pyarrow="text", why=TEXT,
    ),
    Case(
        "the number José", b"1,2\nJos\xc3\xa9,4\n", "error",
        pandas="text", pyarrow="text", why=TEXT,
    ),
    Case("the number 1\x00", b"1,2\n1\x00,4\n", "error", pandas="text", pyarrow="text", why=TEXT),
    Case("the number --1", b"1,2\n--1,4\n", "error", pandas="text", pyarrow="text", why=TEXT),
    Case("the number 9007199254740993", b"1,2\n9007199254740993,4\n", "error",
        pandas="1 2; 9.0072e+15 4", pyarrow="1 2; 9.0072e+15 4", numpy="1 2; 9.0072e+15 4",
        why="as a double it would be another number"),
    Case("a lone column", b"1\n2\n", "1; 2"),
    Case("a lone column with a gap", b'1\n""\n3\n', "1; -; 3", numpy="error", why=GAPS),
    Case(
        "an empty file", b"", "error",
        numpy="none", why="no rows of no columns may be a file that was cut",
    ),
    Case(
        "nothing but names", b"a,b\n", "none",
        header=True, pandas="text", why="pandas makes text of columns without values",
    ),
    Case(
        "numbers as names", b"a,2020\n1,2\n", "1 2", header=True,
    ),
    Case("two names alike", b"a,a\n1,2\n", "1 2", header=True),
]


def shown(rows: Any) -> str:
    """Rows as text: ``1 2; 3 -``."""

    def cell(value: Any) -> str:
        return "-" if value is None or value != value else f"{float(value):g}"

    return "; ".join(" ".join(map(cell, row)) for row in rows) or "none"


def by_pandas(path: Any, case: Case) -> str:
    header = 0 if case.header else None
    frame = pd.read_csv(path, sep=case.sep or r"\s+", header=header, comment="#")
    if not all(kind.kind in "iufb" for kind in frame.dtypes):
        return "text"
    return shown(frame.astype(float).to_numpy())


def by_pyarrow(path: Any, case: Case) -> str:
    read = pa_csv.ReadOptions(autogenerate_column_names=not case.header)
    parse = pa_csv.ParseOptions(delimiter=case.sep or " ")
    table = pa_csv.read_csv(path, read_options=read, parse_options=parse)
    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_null, pa.types.is_boolean)
    if not all(any(is_one(kind) for is_one in numbers) for kind in table.schema.types):
        return "text"
    return shown(zip(*(column.to_pylist() for column in table.columns)))


def by_numpy(path: Any, case: Case) -> str:
    how = {"delimiter": case.sep, "skiprows": int(case.header), "quotechar": '"'}
    return shown(np.loadtxt(path, ndmin=2, **how))


def verdict(reader: Any, path: Any, case: Case) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return reader(path, case)
        # Each of them has its own.
        except Exception:
            return "error"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_dialect_is_read_as_promised(tmp_path, case):
    path = tmp_path / "case.csv"
    path.write_bytes(case.text)
    if case.ours == "error":
        with pytest.raises(swath.MalformedError) as raised:
            swath.read_csv(path, "float64")
        assert ("on line" in str(raised.value) or not case.text) and raised.value.filename == str(path)
        return
    assert shown(swath.read_csv(path, "float64")) == case.ours
    assert (swath.read_csv(path).report["header"] > 0) == case.header
    told = swath.read_csv(path, "float64", delimiter=case.sep or "blanks")
    assert shown(told) == case.ours


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_peers_read_it_as_is_written_here(tmp_path, case):
    path = tmp_path / "case.csv"
    path.write_bytes(case.text)
    peers = {"pandas": by_pandas, "pyarrow": by_pyarrow, "numpy": by_numpy}
    said = {name: getattr(case, name) for name in peers}
    wanted = {name: case.ours if it == "=" else it for name, it in said.items()}
    assert {name: verdict(reader, path, case) for name, reader in peers.items()} == wanted


def test_whatever_differs_has_a_reason():
    for case in CASES:
        differs = {case.pandas, case.pyarrow, case.numpy} != {"="}
        assert differs == bool(case.why), case.name
    assert len({case.name for case in CASES}) == len(CASES)


def test_what_numpy_aligns_is_read_back(tmp_path):
    path = tmp_path / "saved.txt"
    values = np.array([[1.0, -2.5], [1e3, 0.25], [0.0, 99.0]])
    for fmt in ("%8.3f", "%-9.3f", "%.18e", "%12.4g"):
        np.savetxt(path, values, fmt=fmt, header="of numpy")
        np.testing.assert_array_equal(swath.read_csv(path, "float64"), values)
        np.testing.assert_array_equal(swath.read_csv(path, "float64", delimiter="blanks"), values)


def test_chosen_columns_are_those_of_pandas(tmp_path):
    path = tmp_path / "customers.csv"
    path.write_text('id,name,score\n1,"Smith, ""J.""",2.5\n2,José,\n3,,7\n')
    table = swath.read_csv(path, columns=["score", "id"])
    assert table.names == ["score", "id"]
    frame = pd.read_csv(path, usecols=["id", "score"])
    np.testing.assert_array_equal(table["score"], frame["score"])
    np.testing.assert_array_equal(table["id"], frame["id"])
    np.testing.assert_array_equal(swath.read_csv(path, "int64", columns=[0]), [[1], [2], [3]])
    with pytest.raises(swath.MalformedError, match="column `name`.*with columns="):
        swath.read_csv(path, float)
    with pytest.raises(ValueError, match="no column `x`: the file has `id`"):
        swath.read_csv(path, columns=["x"])
    with pytest.raises(TypeError, match="a sequence of names"):
        swath.read_csv(path, columns="id")


def test_compressed_text_is_read_as_it_is(tmp_path):
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.5, -1.0]})
    for end in ("gz", "bz2"):
        path = tmp_path / f"frame.csv.{end}"
        frame.to_csv(path, index=False)
        np.testing.assert_array_equal(swath.read_csv(path, "float64"), frame.to_numpy())
