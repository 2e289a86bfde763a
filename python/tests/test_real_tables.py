"""Five tables as people have them: each is read with one call, and is what others read."""

from __future__ import annotations

import csv
import datetime
import random
from pathlib import Path
from typing import Any

import pytest

import swath

np = pytest.importorskip("numpy")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
pa_csv = pytest.importorskip("pyarrow.csv")
duckdb = pytest.importorskip("duckdb")

ROWS = 3000


def handed_on(path: Path, **how: Any) -> list[dict[str, Any]]:
    """The rows, after it was made sure that every library gets the same ones, by both ways."""
    table = swath.read_csv(path, **how)
    rows: list[dict[str, Any]] = pyarrow.table(table).to_pylist()
    for given in (table, swath.stream_csv(path, **how)):
        frame = polars.DataFrame(given)
        assert frame.columns == table.names and frame.to_dicts() == rows
    reader = pyarrow.RecordBatchReader.from_stream(swath.stream_csv(path, **how))
    assert reader.read_all().to_pylist() == rows
    for given in (table, swath.stream_csv(path, **how)):
        frame = pandas.DataFrame.from_arrow(given)
        assert [*frame] == table.names and len(frame) == len(rows)
        for name in frame:
            missing = [row[name] is None for row in rows]
            assert frame[name].isna().tolist() == missing, name
    frame = table.to_pandas()
    assert [*frame] == table.names and len(frame) == len(rows)
    for given in (table, swath.stream_csv(path, **how)):
        names = ", ".join(f'"{name}"' for name in table.names)
        found = duckdb.sql(f"select {names} from given").fetchall()
        assert [dict(zip(table.names, row)) for row in found] == rows
    out = path.with_name("out.csv")
    swath.write_csv(out, table)
    again = swath.read_csv(out)
    assert pyarrow.table(again).to_pylist() == rows
    return rows


def test_a_passenger_list(tmp_path: Path) -> None:
    path = tmp_path / "passengers.csv"
    dice = random.Random(1)
    names = ['Braund, Mr. Owen Harris', 'Futrelle, Mrs. Jacques Heath (Lily May "Peel")', "O'Dwyer, Miss. Ellen"]
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["PassengerId", "Survived", "Pclass", "Name", "Sex", "Age", "Ticket", "Fare", "Cabin", "Embarked"])
        for number in range(ROWS):
            out.writerow([
                number + 1, dice.randrange(2), dice.randrange(1, 4), f"{dice.choice(names)} {number}",
                dice.choice(["male", "female"]), dice.choice(["", "22", "0.75", "38"]),
                dice.choice(["A/5 21171", "113803", "STON/O2. 3101282"]), f"{dice.random() * 90:.4f}",
                dice.choice(["", "C85", "B28"]), dice.choice(["S", "C", "Q", ""]),
            ])  # fmt: skip
    rows = handed_on(path)
    assert swath.csv_dtypes(path) == [
        "int64", "int64", "int64", "text", "text", "float64", "text", "float64", "text", "text",
    ]  # fmt: skip
    frame = pandas.read_csv(path, keep_default_na=False, na_values=[""])
    mine = swath.read_csv(path).to_pandas()
    for name in frame:
        assert mine[name].equals(frame[name].astype(mine[name].dtype)), name
    theirs = polars.read_csv(path)
    assert theirs["Name"].to_list() == [row["Name"] for row in rows]
    assert theirs["Age"].to_list() == [row["Age"] for row in rows]
    words = swath.read_csv(path, dictionary=True, columns=["Sex", "Embarked"])
    assert words.types == ["dictionary"] * 2
    assert words["Sex"].tolist() == [row["Sex"] for row in rows]
    assert pandas.DataFrame.from_arrow(words)["Sex"].dtype == "category"


def test_an_access_log(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    dice = random.Random(2)
    lines, wanted = [], []
    for number in range(ROWS):
        moment = datetime.datetime(2000, 10, 10, 13, 55, 36) + datetime.timedelta(seconds=7 * number)
        size = dice.choice(["2326", "-", "0"])
        agent = dice.choice(['Mozilla/4.08 [en] (Win98; I ;Nav)', 'curl/8.1', 'say \\"hi\\"'])
        lines.append(
            f'127.0.0.{number % 200} - {dice.choice(["frank", "-"])} [{moment:%d/%b/%Y:%H:%M:%S} -0700] '
            f'"GET /page_{number}.gif HTTP/1.0" 200 {size} "http://www.example.com/start.html" "{agent}"\n'
        )
        wanted.append((moment + datetime.timedelta(hours=7), size, agent.replace("\\", "")))
    path.write_text("".join(lines))
    rows = handed_on(
        path,
        delimiter="blanks",
        header=False,
        escape="\\",
        null_values=["-"],
        rename={0: "host", 2: "user", 3: "time", 4: "zone", 5: "request", 6: "status", 7: "bytes", 9: "agent"},
        formats={"column_4": "[%d/%b/%Y:%H:%M:%S"},
        columns=[0, 2, 3, 4, 5, 6, 7, 9],
    )
    for row, (moment, size, agent) in zip(rows, wanted):
        assert row["time"] == moment - datetime.timedelta(hours=7) and row["zone"] == "-0700]"
        assert row["bytes"] == (None if size == "-" else int(size)) and row["agent"] == agent
    assert rows[5]["request"] == "GET /page_5.gif HTTP/1.0" and rows[5]["status"] == 200


def test_a_sensor_table(tmp_path: Path) -> None:
    path = tmp_path / "sensor.csv"
    dice = random.Random(3)
    lines = ["time,station,temperature,humidity,ok\r\n"]
    for number in range(ROWS):
        moment = datetime.datetime(2024, 3, 31, tzinfo=datetime.timezone.utc)
        moment += datetime.timedelta(minutes=10 * number)
        temperature = dice.choice(["", "NA", f"{dice.gauss(10, 5):.2f}"])
        humidity = dice.choice(["", str(dice.randrange(101))])
        flag = dice.choice(["true", "false", ""])
        lines.append(f"{moment:%Y-%m-%dT%H:%M:%SZ},S{number % 3:02},{temperature},{humidity},{flag}\r\n")
    path.write_bytes("".join(lines).encode())
    rows = handed_on(path)
    table = swath.read_csv(path)
    assert table.types == ["timestamp[us, UTC]", "text", "float64", "int64", "bool"]
    assert np.isnat(table["time"]).sum() == 0 and isinstance(table["humidity"], np.ma.MaskedArray)
    frame = pandas.read_csv(path, parse_dates=["time"])
    mine = table.to_pandas()
    assert (mine["time"] == frame["time"]).all()
    np.testing.assert_array_equal(mine["temperature"], frame["temperature"])
    assert (mine["humidity"].astype("float64").fillna(-1) == frame["humidity"].fillna(-1)).all()
    convert = pa_csv.ConvertOptions(null_values=["", "NA"])
    theirs = pa_csv.read_csv(path, convert_options=convert).to_pylist()
    for row, other in zip(rows, theirs):
        assert {**row, "time": None} == {**other, "time": None}
    mean = duckdb.sql(f"select avg(temperature) from read_csv('{path}', nullstr=['', 'NA'])").fetchall()[0][0]
    assert abs(np.nanmean(table["temperature"]) - mean) < 1e-9


def test_a_european_export(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    dice = random.Random(4)
    lines, wanted = ["Datum;Kunde;PLZ;Betrag;Anzahl\n"], []
    for number in range(ROWS):
        day = datetime.date(2023, 1, 1) + datetime.timedelta(days=number % 800)
        amount = dice.randrange(10**7) / 100
        text = f"{amount:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")
        town = dice.choice(["01067", "80331", "06108"])
        lines.append(f'{day:%d.%m.%Y};"Müller; Söhne {number}";{town};{text};{number % 5 or ""}\n')
        wanted.append((day, f"Müller; Söhne {number}", town, amount, number % 5 or None))
    path.write_bytes("".join(lines).encode("latin-1"))
    how: dict[str, Any] = {
        "decimal": ",", "thousands": ".", "encoding": "latin-1", "formats": {"Datum": "%d.%m.%Y"},
    }  # fmt: skip
    rows = handed_on(path, **how)
    assert [tuple(row.values()) for row in rows] == wanted
    table = swath.read_csv(path, **how)
    assert table.types == ["date", "text", "text", "float64", "int64"]
    assert table.report["delimiter"] == ";" and table.report["encoding"] == "latin-1"
    frame = pandas.read_csv(path, sep=";", decimal=",", thousands=".", encoding="latin-1", dtype={"PLZ": str, "Datum": str})
    assert frame["Betrag"].tolist() == table["Betrag"].tolist()
    assert frame["Kunde"].tolist() == table["Kunde"].tolist()
    assert pandas.to_datetime(frame["Datum"], format="%d.%m.%Y").equals(
        table.to_pandas()["Datum"].astype(pandas.to_datetime(frame["Datum"], format="%d.%m.%Y").dtype)
    )
    with pytest.raises(swath.MalformedError, match="line 3.*UTF-8|UTF-8.*try: pass the encoding"):
        swath.read_csv(path)


def test_a_sheet_in_utf_16(tmp_path: Path) -> None:
    path = tmp_path / "sheet.txt"
    lines = ["Name\tStück\tPreis €\tAm\tNotiz\r\n"]
    for number in range(ROWS):
        lines.append(f'Größe {number}\t{number}\t{number / 4:.2f}\t2024-02-{number % 28 + 1:02}\t"zwei\nZeilen 😀"\r\n')
    path.write_bytes("".join(lines).encode("utf-16"))
    rows = handed_on(path)
    table = swath.read_csv(path)
    assert table.names == ["Name", "Stück", "Preis €", "Am", "Notiz"]
    assert table.types == ["text", "int64", "float64", "date", "text"]
    assert table.report["encoding"] == "utf-16le" and table.report["delimiter"] == "\t"
    frame = pandas.read_csv(path, sep="\t", encoding="utf-16", parse_dates=["Am"])
    mine = table.to_pandas()
    for name in frame:
        assert (mine[name] == frame[name]).all(), name
    assert rows[7]["Notiz"] == "zwei\nZeilen 😀" and rows[7]["Am"] == datetime.date(2024, 2, 8)
