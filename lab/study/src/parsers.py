"""The usual ways to parse and write text with numbers; each loads its library on first use.

A way takes a path and returns two functions: one to be timed, and a check of its result. The
check is not timed, and returns two numbers: the count of the values and their sum.
"""


def coordinates(matrix):
    """Returns the count of entries, and the sum of all rows and columns counted from 0."""
    matrix = matrix.tocoo()
    rows, columns = matrix.row.astype("int64"), matrix.col.astype("int64")
    return matrix.nnz, int(rows.sum() + columns.sum())


def summed(matrix):
    """Returns the same for a matrix whose duplicate entries, each 1, were added up."""
    matrix = matrix.tocoo()
    ids = matrix.row.astype("int64") + matrix.col.astype("int64")
    times = matrix.data.astype("int64")
    return int(times.sum()), int((ids * times).sum())


def edges(frame):
    """Returns the same for a table with two columns that count from 1."""
    first, second = frame[:, 0], frame[:, 1]
    return len(first), int(first.astype("int64").sum() + second.astype("int64").sum()) - 2 * len(first)


def values(array):
    """Returns the count of values, and their sum as a whole number."""
    return array.size, int(round(float(array.sum())))


def scipy_mtx(path):
    import scipy.io

    return lambda: scipy.io.mmread(path), coordinates


def scipy_csr(path):
    import scipy.io

    return lambda: scipy.io.mmread(path).tocsr(), summed


def fmm_mtx(path):
    import fast_matrix_market

    return lambda: fast_matrix_market.mmread(path), coordinates


def fmm_csr(path):
    import fast_matrix_market

    return lambda: fast_matrix_market.mmread(path).tocsr(), summed


def header_lines(path):
    """Counts the comments and the line of sizes."""
    lines = 0
    with open(path, "rb") as file:
        for line in file:
            lines += 1
            if not line.startswith(b"%"):
                return lines


def polars_mtx(path):
    import polars

    skip = header_lines(path)

    def read():
        return polars.read_csv(path, separator=" ", has_header=False, skip_rows=skip)

    return read, lambda frame: edges(frame.select(frame.columns[:2]).to_numpy())


def pyarrow_mtx(path):
    import numpy
    import pyarrow.csv

    reading = pyarrow.csv.ReadOptions(skip_rows=header_lines(path), autogenerate_column_names=True)
    parsing = pyarrow.csv.ParseOptions(delimiter=" ")

    def check(table):
        return edges(numpy.stack([table.column(at).to_numpy() for at in (0, 1)], axis=1))

    return lambda: pyarrow.csv.read_csv(path, reading, parsing), check


def duckdb_mtx(path):
    import duckdb
    import numpy

    skip = header_lines(path)

    def read():
        query = "select * from read_csv($path, delim=' ', header=false, skip=$skip)"
        return duckdb.execute(query, {"path": path, "skip": skip}).fetchnumpy()

    def check(columns):
        return edges(numpy.stack(list(columns.values())[:2], axis=1))

    return read, check


def kept_matrix(path):
    """Returns the matrix, which is parsed once for all writers."""
    global matrix_of
    if matrix_of is None or matrix_of[0] != path:
        import fast_matrix_market

        matrix_of = (path, fast_matrix_market.mmread(path))
    return matrix_of[1]


matrix_of = None


def fmm_write(path):
    import fast_matrix_market

    matrix = kept_matrix(path)
    to = path + ".written"
    return lambda: fast_matrix_market.mmwrite(to, matrix, field="pattern"), lambda _: entries(to)


def scipy_write(path):
    import scipy.io

    matrix = kept_matrix(path)
    to = path + ".written.mtx"
    return lambda: scipy.io.mmwrite(to, matrix, field="pattern"), lambda _: entries(to)


def entries(path):
    """Counts the lines of a written matrix after its header."""
    header = header_lines(path)
    return written(path)[0] - header, 0


def written(path):
    """Counts the lines of a written file, and removes it."""
    import os

    with open(path, "rb") as file:
        lines = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    os.remove(path)
    return lines, 0


def polars_table(path):
    import polars

    return lambda: polars.read_csv(path, has_header=False).to_numpy(), values


def pyarrow_table(path):
    import numpy
    import pyarrow.csv

    reading = pyarrow.csv.ReadOptions(autogenerate_column_names=True)

    def check(table):
        return values(numpy.stack([column.to_numpy() for column in table.columns], axis=1))

    return lambda: pyarrow.csv.read_csv(path, reading), check


def duckdb_table(path):
    import duckdb
    import numpy

    def read():
        query = "select * from read_csv($path, header=false)"
        return duckdb.execute(query, {"path": path}).fetchnumpy()

    return read, lambda columns: values(numpy.stack(list(columns.values()), axis=1))


def pandas_table(path):
    import pandas

    def read():
        return pandas.read_csv(path, header=None, engine="pyarrow").to_numpy()

    return read, values


def numpy_table(path):
    import numpy

    return lambda: numpy.loadtxt(path, delimiter=","), values


def polars_prices(path):
    """Reads contracts and writes as many numbers: pricing without its computation."""
    import polars

    to = path + ".prices"

    def read_and_write():
        frame = polars.read_csv(path, separator=" ", has_header=False, skip_rows=1)
        column = frame.columns[0]
        frame.select(column).write_csv(to, include_header=False, float_precision=18)
        return frame

    def check(frame):
        lines, _ = written(to)
        return lines, 0

    return read_and_write, check


PARSERS = {
    name: way
    for name, way in list(globals().items())
    if name.partition("_")[2] in ("mtx", "csr", "write", "table", "prices")
    and name.partition("_")[0] in ("scipy", "fmm", "polars", "pyarrow", "duckdb", "pandas", "numpy")
}
