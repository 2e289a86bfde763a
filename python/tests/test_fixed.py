"""Text of fixed width as tables: as pandas reads it, where they agree."""

import gzip
import io
import re

import numpy
import pytest

import swath

pandas = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
hypothesis = pytest.importorskip("hypothesis")
given, st = hypothesis.given, hypothesis.strategies

# To neither of them numbers, dates, booleans or missing values, nor after a cut.
WORDS = st.text("xyzäé京", min_size=1, max_size=9)
NUMBERS = st.integers(-9999, 9999).map(str)
DECIMALS = st.integers(-999, 999).map(lambda n: f"{n / 8:.3f}")


@st.composite
def layouts(draw):
    """Widths of columns, and rows with a text for each, of which some are missing."""
    kinds = draw(st.lists(st.sampled_from([WORDS, NUMBERS, DECIMALS]), min_size=2, max_size=5))
    rows = [[draw(kind) for kind in kinds]]
    rows += draw(st.lists(st.tuples(*(kind | st.just("") for kind in kinds)), max_size=8))
    rows = [row for row in rows if any(row)]
    return [10] * len(kinds), rows


def line(row, widths, right):
    cells = (text.rjust(width - 1) + " " if right else text.ljust(width) for text, width in zip(row, widths))
    return "".join(cells)


def text_of(widths, rows, right, trim):
    lines = [line(row, widths, right) for row in [[f"c{at}" for at in range(len(widths))], *rows]]
    return "".join((one.rstrip() if trim else one) + "\n" for one in lines)


def columns(table):
    return {name: [None if pandas.isna(it) else it for it in values] for name, values in table.items()}


def same(ours, theirs):
    ours = columns(pa.table(ours).to_pydict())
    # Its columns of whole numbers in which some are missing are doubles, which compare as equal.
    assert ours == columns(theirs.to_dict("list"))


@given(layouts(), st.booleans(), st.booleans(), st.integers(1, 4))
@hypothesis.settings(deadline=None)
def test_widths_and_positions_are_read_as_pandas_reads_them(layout, right, trim, workers):
    widths, rows = layout
    text = text_of(widths, rows, right, trim)
    data = memoryview(text.encode())
    same(
        swath.read_fixed(data, widths=widths, header=True, workers=workers),
        pandas.read_fwf(io.StringIO(text), widths=widths),
    )
    positions = [(at * 10, at * 10 + 9) for at in range(1, len(widths))]
    keep = [row for row in rows if any(row[1:])]
    text = text_of(widths, keep, right, trim)
    same(
        swath.read_fixed(memoryview(text.encode()), positions=positions, header=True),
        pandas.read_fwf(io.StringIO(text), colspecs=positions),
    )


@given(layouts(), st.booleans())
@hypothesis.settings(deadline=None)
def test_columns_that_are_found_are_those_of_pandas(layout, right):
    widths, rows = layout
    text = text_of(widths, rows, right, trim=False)
    same(swath.read_fixed(memoryview(text.encode()), header=True), pandas.read_fwf(io.StringIO(text)))


def test_a_value_that_is_wider_than_all_before_is_an_error_where_pandas_cuts_it():
    text = "a    b\n" + "12   1\n" * 2000 + "12345 1\n"
    assert pandas.read_fwf(io.StringIO(text)).iloc[-1]["a"] == 12
    with pytest.raises(swath.MalformedError, match="on line 2002 .* at position 2: `345 1`") as caught:
        swath.read_fixed(memoryview(text.encode()))
    assert "try: pass widths= or positions= that include it" in str(caught.value)
    assert swath.read_fixed(memoryview(text.encode()), widths=[5, 2])["a"][-1] == 12345
    aside = swath.read_fixed(memoryview(text.encode()), ragged="set-aside")
    assert len(aside) == 2000 and aside.report["set_aside"]["lines"] == [{"file": 0, "line": 2002}]


def test_text_after_the_last_width_is_an_error_where_pandas_passes_over_it():
    assert pandas.read_fwf(io.StringIO("ab\nabxyz\n"), widths=[1, 1]).columns.tolist() == ["a", "b"]
    with pytest.raises(swath.MalformedError, match="on line 2 .* at position 2: `xyz`"):
        swath.read_fixed(memoryview(b"ab\nabxyz\n"), widths=[1, 1])
    passed = swath.read_fixed(memoryview(b"ab\nabxyz\n"), positions=[(0, 1), (1, 2)], header=True)
    assert passed.names == ["a", "b"]


def test_text_at_no_position_is_a_missing_row_where_pandas_skips_it():
    text = "ab\n  xyz\ncd\n"
    assert len(pandas.read_fwf(io.StringIO(text), colspecs=[(0, 1), (1, 2)])) == 1
    table = swath.read_fixed(memoryview(text.encode()), positions=[(0, 1), (1, 2)], header=True)
    assert pa.table(table).to_pydict() == {"a": [None, "c"], "b": [None, "d"]}


def test_files_are_read_whole_and_as_streams(tmp_path):
    text = "".join(f"{n:5} {'é' * (n % 7):8}{n / 4:9.2f}\n" for n in range(3000))
    path, packed = tmp_path / "a.txt", tmp_path / "a.txt.gz"
    path.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    table = swath.read_fixed(path)
    assert table.types == ["int64", "text", "float64"]
    assert table.report["positions"] == [[1, 5], [6, 12], [17, 23]]
    assert numpy.asarray(table["column_1"]).tolist() == list(range(3000))
    for source in (path, packed, [path], memoryview(text.encode())):
        assert pa.table(swath.read_fixed(source)) == pa.table(table)
    stream = swath.stream_fixed(path, block_size=1000, widths=[6, 8, 9])
    assert pa.Table.from_batches(pa.RecordBatchReader.from_stream(stream)).num_rows == 3000
    assert swath.read_csv(memoryview(b"a\n1\n")).report["positions"] is None
    latin = swath.read_fixed(memoryview("é 1\nö 2\n".encode("latin-1")), encoding="latin-1", header=False)
    assert pa.table(latin).to_pydict() == {"column_1": ["é", "ö"], "column_2": [1, 2]}


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"widths": 5}, TypeError, "widths=5: not a list; try: pass widths=[10, 5, 8]"),
        ({"widths": "5,3"}, TypeError, "widths='5,3': not a list"),
        ({"widths": [5.0]}, TypeError, "widths=[…]: 5.0 is not a number of characters"),
        ({"widths": [-1]}, ValueError, "-1 is not a position in a line; try: pass an int from 0"),
        ({"widths": [1, 0]}, swath.InvalidError, "column index 1 has the width 0"),
        ({"widths": []}, swath.InvalidError, "try: pass widths= or positions=, or none of them"),
        ({"widths": [1], "positions": [(0, 1)]}, swath.InvalidError, "pass widths= or positions=, not both"),
        ({"positions": [(0, 3), (2, 4)]}, swath.InvalidError, "before the end 3 of the one before it"),
        ({"positions": [3]}, TypeError, "3 is not a start and an end; try: pass (start, end)"),
        ({"positions": [(0, None), (3, 4)]}, swath.InvalidError, "has no end"),
        ({"colspecs": [(0, 1)]}, TypeError, "try: use positions="),
        ({"chunksize": 5}, TypeError, "try: use stream_fixed"),
        ({"delimiter": ","}, TypeError, "delimiter"),
    ],
)
def test_wrong_columns_are_refused_with_a_hint(given, kind, words):
    with pytest.raises(kind, match=re.escape(words)):
        swath.read_fixed(memoryview(b"a b\n"), **given)
