//! Drawn tables: each column as an Arrow array, and as cells of the slow version.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, ArrowTimestampType, Float16Type, Int8Type, Int32Type, UInt16Type,
};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Date64Array, Decimal128Array, DictionaryArray,
    Float16Array, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array,
    LargeStringArray, NullArray, PrimitiveArray, RecordBatch, StringArray, StringViewArray,
    Time32MillisecondArray, Time32SecondArray, Time64MicrosecondArray, Time64NanosecondArray,
    UInt8Array, UInt16Array, UInt32Array, UInt64Array,
    types::{
        TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
        TimestampSecondType,
    },
};
use arrow_schema::{Field, Schema, SchemaRef};
use swath_reference::splitmix;
use swath_reference::typed_write::Cell;

type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// One column.
pub(super) type Column = (ArrayRef, Vec<Cell>);

/// Draws values and which of them are missing.
pub(super) struct Draw {
    next: Box<dyn FnMut() -> u64>,
    /// The number of missing values in a hundred.
    pub(super) missing: u64,
}

/// Texts that need care in one form or another.
const TEXTS: &[&str] = &[
    "",
    " ",
    "  ",
    "a",
    "Oslo",
    "Rome, Italy",
    "say \"x\"",
    "\"",
    "two\nlines",
    "\r",
    "a\r\n",
    "tab\t",
    "NA",
    " NA",
    "N/A",
    "null",
    "NULL ",
    "none",
    "nan",
    "true",
    "1",
    "007",
    "2024-01-01",
    "a;b",
    "a|b",
    "a:b",
    "größe",
    "日本語",
    "\u{feff}mark",
    "sep=;",
    "SEP=x",
    "sep=",
    "#",
    "# x",
    "\0",
    "\u{1f}",
    "\u{7f}",
    "\u{2028}",
    "back\\slash",
    "/",
    "'",
    " edge",
    "edge ",
    "-",
    "exactly 12 b",
    "one more: 13b",
    "a text that is longer than a view keeps in itself",
    "another one, with a comma, that is longer than thirty-two bytes and so copied by a call",
];

impl Draw {
    pub(super) fn new(seed: u64, missing: u64) -> Self {
        println!("seed {seed}, {missing} % missing");
        Self { next: Box::new(splitmix(seed)), missing }
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        (self.next)() % limit
    }

    /// One of a few.
    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let at = self.below(from.len() as u64);
        from[usize::try_from(at).expect("few")]
    }

    fn bits(&mut self) -> u64 {
        (self.next)()
    }

    /// Draws `rows` values, some of them missing.
    fn some<T>(&mut self, rows: usize, mut one: impl FnMut(&mut Self) -> T) -> Vec<Option<T>> {
        let mut values = Vec::new();
        for _ in 0..rows {
            let is_missing = self.below(100) < self.missing;
            let value = one(self);
            values.push((!is_missing).then_some(value));
        }
        values
    }

    /// A number of any size: few bits as often as many.
    fn whole(&mut self) -> u64 {
        let bits = self.bits();
        bits >> self.below(64)
    }

    fn signed(&mut self) -> i64 {
        let value = self.whole().cast_signed();
        if self.below(2) == 0 { value } else { value.wrapping_neg() }
    }

    fn text(&mut self) -> String {
        self.pick(TEXTS).to_owned()
    }

    fn double(&mut self) -> f64 {
        match self.below(8) {
            0 => f64::from_bits(self.bits()),
            1 => self.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0]),
            2 => f64::from(i32::try_from(self.signed() % 1000).expect("small")),
            _ => f64::from(i32::try_from(self.signed() % 100_000).expect("small")) / 100.0,
        }
    }

    /// An instant of the years 1 to 9999. The least count is a missing value to numpy, so readers refuse it.
    fn instant(&mut self, decimals: u32) -> i64 {
        let (first, last) = (-62_135_596_800_i128, 253_402_300_799_i128);
        let unit = 10_i128.pow(decimals);
        let least = (first * unit).max((-i64::MAX).into());
        let most = (last * unit + unit - 1).min(i64::MAX.into());
        let count = match self.below(10) {
            0 => least,
            1 => most,
            2 => -1,
            _ => least + i128::from(self.bits()) % (most - least),
        };
        i64::try_from(count).expect("clamped")
    }
}

fn cells<T>(values: &[Option<T>], cell: impl Fn(&T) -> Cell) -> Vec<Cell> {
    values.iter().map(|it| it.as_ref().map_or(Cell::Missing, &cell)).collect()
}

macro_rules! integers {
    ($draw:ident, $rows:ident, $($array:ident of $type:ty),+) => {
        [$({
            let values = $draw.some($rows, |draw| {
                let bytes = draw.signed().to_le_bytes();
                <$type>::from_le_bytes(*bytes.first_chunk().expect("at most eight"))
            });
            let cells = cells(&values, |value| Cell::Whole((*value).into()));
            (Arc::new($array::from(values)) as ArrayRef, cells)
        }),+]
    };
}

fn timestamps<T: ArrowTimestampType>(
    draw: &mut Draw,
    rows: usize,
    decimals: u32,
) -> [Column; 2] {
    [None, Some("Europe/Berlin")].map(|zone| {
        let values = draw.some(rows, |draw| draw.instant(decimals));
        let is_zoned = zone.is_some();
        let cells = cells(&values, |count| Cell::Instant { count: *count, decimals, is_zoned });
        let array = PrimitiveArray::<T>::from_iter(values).with_timezone_opt(zone);
        (Arc::new(array) as ArrayRef, cells)
    })
}

/// Columns of every type that separated fields can hold.
pub(super) fn columns(draw: &mut Draw, rows: usize) -> Vec<Column> {
    let mut columns = numbers(draw, rows);
    columns.extend(times(draw, rows));
    columns.extend(texts(draw, rows));
    columns.push((Arc::new(NullArray::new(rows)), vec![Cell::Missing; rows]));
    columns
}

fn numbers(draw: &mut Draw, rows: usize) -> Vec<Column> {
    let bools = draw.some(rows, |draw| draw.below(2) == 1);
    let bool_cells = cells(&bools, |value| Cell::Bool(*value));
    let mut columns: Vec<Column> = vec![(Arc::new(BooleanArray::from(bools)), bool_cells)];
    columns.extend(integers!(
        draw, rows, Int8Array of i8, Int16Array of i16, Int32Array of i32, Int64Array of i64,
        UInt8Array of u8, UInt16Array of u16, UInt32Array of u32, UInt64Array of u64
    ));
    let values = draw.some(rows, Draw::double);
    let doubles = cells(&values, |value| Cell::Double(*value));
    columns.push((Arc::new(Float64Array::from(values)), doubles));
    let values = draw.some(rows, |draw| -> f32 {
        // Rounded to the nearest single.
        draw.double().to_string().parse().expect("a number")
    });
    let singles = cells(&values, |value| Cell::Single(*value));
    columns.push((Arc::new(Float32Array::from(values)), singles));
    let values = draw
        .some(rows, |draw| f32::from(i8::try_from(draw.signed() % 100).expect("small")) / 4.0);
    let halves = cells(&values, |value| Cell::Single(*value));
    let values = values.into_iter().map(|it| it.map(Half::from_f32));
    columns.push((Arc::new(values.collect::<Float16Array>()), halves));
    let values = draw.some(rows, |draw| i128::from(draw.signed()));
    // Whole numbers: their point is nowhere.
    let wholes = cells(&values, |value| Cell::Whole(*value));
    let decimals = Decimal128Array::from(values).with_precision_and_scale(38, 0);
    columns.push((Arc::new(decimals.expect("it fits")), wholes));
    columns
}

fn times(draw: &mut Draw, rows: usize) -> Vec<Column> {
    let day = |draw: &mut Draw| draw.instant(0).div_euclid(86_400);
    let values = draw.some(rows, |draw| i32::try_from(day(draw)).expect("years to 9999"));
    let dates = cells(&values, |days| Cell::Date((*days).into()));
    let mut columns: Vec<Column> = vec![(Arc::new(Date32Array::from(values)), dates)];
    let values = draw.some(rows, |draw| day(draw) * 86_400_000);
    let dates = cells(&values, |count| Cell::Date(count / 86_400_000));
    columns.push((Arc::new(Date64Array::from(values)), dates));
    columns.extend(timestamps::<TimestampSecondType>(draw, rows, 0));
    columns.extend(timestamps::<TimestampMillisecondType>(draw, rows, 3));
    columns.extend(timestamps::<TimestampMicrosecondType>(draw, rows, 6));
    columns.extend(timestamps::<TimestampNanosecondType>(draw, rows, 9));
    let time = |decimals| move |count: &i64| Cell::Time { count: *count, decimals };
    let narrow = |values: &[Option<i64>]| -> Vec<Option<i32>> {
        values
            .iter()
            .map(|it| it.map(|count| i32::try_from(count).expect("a day has fewer")))
            .collect()
    };
    for decimals in [0, 3, 6, 9] {
        let day = 86_400 * 10_u64.pow(decimals);
        let values = draw.some(rows, |draw| draw.below(day).cast_signed());
        let cells = cells(&values, time(decimals));
        let array: ArrayRef = match decimals {
            0 => Arc::new(Time32SecondArray::from(narrow(&values))),
            3 => Arc::new(Time32MillisecondArray::from(narrow(&values))),
            6 => Arc::new(Time64MicrosecondArray::from(values)),
            _ => Arc::new(Time64NanosecondArray::from(values)),
        };
        columns.push((array, cells));
    }
    columns
}

fn texts(draw: &mut Draw, rows: usize) -> Vec<Column> {
    let text = |text: &String| Cell::Text(text.clone());
    let mut columns: Vec<Column> = Vec::new();
    let values = draw.some(rows, Draw::text);
    columns.push((Arc::new(StringArray::from(values.clone())), cells(&values, text)));
    let values = draw.some(rows, Draw::text);
    columns.push((Arc::new(LargeStringArray::from(values.clone())), cells(&values, text)));
    let values = draw.some(rows, Draw::text);
    let views: StringViewArray = values.iter().map(Option::as_deref).collect();
    columns.push((Arc::new(views), cells(&values, text)));
    let values = draw.some(rows, |draw| draw.pick(&["a", "two words", "plain"]));
    let plain = cells(&values, |text| Cell::Text((*text).to_owned()));
    columns.push((Arc::new(StringArray::from(values)), plain));
    let values = draw.some(rows, Draw::text);
    let words: DictionaryArray<UInt16Type> = values.iter().map(Option::as_deref).collect();
    columns.push((Arc::new(words), cells(&values, text)));
    columns.push(dictionary_with_missing_values(draw, rows));
    let values = draw.some(rows, |draw| draw.pick(&[0_i8, 1, 2]));
    let numbers =
        cells(&values, |key| Cell::Whole([7, -8, 9][usize::from(key.unsigned_abs())]));
    let keys: PrimitiveArray<Int8Type> = values.into_iter().collect();
    let words = DictionaryArray::new(keys, Arc::new(Int64Array::from(vec![7, -8, 9])));
    columns.push((Arc::new(words), numbers));
    columns
}

/// A dictionary with a missing value in it, larger than what is formatted as a whole.
fn dictionary_with_missing_values(draw: &mut Draw, rows: usize) -> Column {
    let mut values: Vec<Option<String>> = (0..5000).map(|at| Some(format!("v{at},"))).collect();
    values[1] = None;
    values[2] = Some("NA".to_owned());
    let keys = draw.some(rows, |draw| draw.pick(&[0, 1, 2, 3]));
    let cell = |key: &i32| match &values[usize::try_from(*key).expect("few")] {
        Some(text) => Cell::Text(text.clone()),
        None => Cell::Missing,
    };
    let cells = cells(&keys, cell);
    let keys: PrimitiveArray<Int32Type> = keys.into_iter().collect();
    (Arc::new(DictionaryArray::new(keys, Arc::new(StringViewArray::from(values)))), cells)
}

/// A table of these columns, cut into batches of some rows.
pub(super) struct Table {
    pub(super) schema: SchemaRef,
    pub(super) names: Vec<String>,
    pub(super) batches: Vec<RecordBatch>,
    pub(super) rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(super) fn of(columns: Vec<Column>, names: Vec<String>, draw: &mut Draw) -> Self {
        let fields: Vec<Field> = names
            .iter()
            .zip(&columns)
            .map(|(name, (array, _))| Field::new(name, array.data_type().clone(), true))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let count = columns.first().map_or(0, |(array, _)| array.len());
        let rows = (0..count)
            .map(|row| columns.iter().map(|(_, cells)| cells[row].clone()).collect())
            .collect();
        let arrays = columns.into_iter().map(|(array, _)| array).collect();
        let whole = RecordBatch::try_new(Arc::clone(&schema), arrays).expect("they fit");
        let mut batches = Vec::new();
        let mut first = 0;
        while first < count {
            let len = draw.pick(&[0, 1, 3, 100, 10_000]).min(count - first);
            batches.push(whole.slice(first, len));
            first += len;
        }
        Self { schema, names, batches, rows }
    }

    /// A table with columns of every type.
    pub(super) fn draw(draw: &mut Draw, rows: usize) -> Self {
        let columns = columns(draw, rows);
        let names = (0..columns.len()).map(|at| format!("c{at}")).collect();
        Self::of(columns, names, draw)
    }
}
