//! Numbers in readable form: four figures, separated thousands, a unit that suits the largest number of a
//! chart. `NaN` and `inf` become a dash.

use crate::results::Measure;
use swath_profile::stats::Interval;

/// The text for a missing number.
pub(super) const NONE: &str = "–";

/// The unit of a chart's numbers, and the factor that converts to it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unit {
    factor: f64,
    /// The name, as in `ms`; empty for plain counts and ratios.
    pub(super) name: String,
}

impl Unit {
    /// Returns a unit with factor 1.
    pub(super) fn plain(name: &str) -> Self {
        Self { factor: 1.0, name: name.to_owned() }
    }

    /// Returns the unit for a chart whose largest number is `largest`.
    pub(super) fn of(measure: &Measure, largest: f64) -> Self {
        match measure {
            Measure::Seconds => Self::of_seconds(largest),
            Measure::Rate => Self::plain("GB/s"),
            Measure::SpeedUp { .. } => Self::plain("×"),
            Measure::Efficiency => Self::plain(""),
            Measure::Metric { name, unit } | Measure::Course { name, unit, .. } => {
                Self::of_metric(name, unit, largest)
            }
        }
    }

    fn of_seconds(largest: f64) -> Self {
        let (factor, name) = match largest {
            seconds if seconds < 1e-6 => (1e9, "ns"),
            seconds if seconds < 1e-3 => (1e6, "µs"),
            seconds if seconds < 1.0 => (1e3, "ms"),
            _ => (1.0, "s"),
        };
        Self { factor, name: name.to_owned() }
    }

    fn of_bytes(largest: f64) -> Self {
        let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
        let fits = |&&(shift, _): &&(u32, &str)| largest >= f64::from(1_u32 << shift);
        match units.iter().find(fits) {
            Some(&(shift, name)) => {
                Self { factor: 1.0 / f64::from(1_u32 << shift), name: name.to_owned() }
            }
            None => Self::plain("B"),
        }
    }

    /// Returns the unit of a metric. If its name ends in its unit, as in `peak_bytes` and `cpu_seconds`, the
    /// result is `unit` of the same kind, or the one that suits if `unit` is empty.
    fn of_metric(metric: &str, unit: &str, largest: f64) -> Self {
        if unit.is_empty() && metric.ends_with("seconds") {
            return Self::of_seconds(largest);
        }
        if unit.is_empty() && metric.ends_with("bytes") {
            return Self::of_bytes(largest);
        }
        let per_unit = if metric.ends_with("bytes") {
            match unit {
                "KiB" => 1024.0,
                "MiB" => 1024.0 * 1024.0,
                "GiB" => 1024.0 * 1024.0 * 1024.0,
                "KB" | "kB" => 1e3,
                "MB" => 1e6,
                "GB" => 1e9,
                _ => 1.0,
            }
        } else if metric.ends_with("seconds") {
            match unit {
                "ms" => 1e-3,
                "µs" | "us" => 1e-6,
                "ns" => 1e-9,
                _ => 1.0,
            }
        } else {
            1.0
        };
        Self { factor: 1.0 / per_unit, name: unit.to_owned() }
    }

    /// Returns `value` in this unit.
    pub(super) fn scaled(&self, value: f64) -> f64 {
        value * self.factor
    }

    /// Formats the number alone.
    pub(super) fn number(&self, value: f64) -> String {
        number(self.scaled(value))
    }

    /// Formats the number with its unit.
    pub(super) fn text(&self, value: f64) -> String {
        match self.name.as_str() {
            "" => self.number(value),
            "×" | "%" => format!("{}{}", self.number(value), self.name),
            name => format!("{} {name}", self.number(value)),
        }
    }
}

/// Formats a number with at most four figures, without trailing zeros.
pub(super) fn number(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let size = value.abs();
    match size {
        0.0 => "0".to_owned(),
        size if size >= 1e12 => format!("{value:.2e}"),
        size if size >= 1000.0 => thousands(value),
        size if size >= 100.0 => trimmed(format!("{value:.1}")),
        size if size >= 10.0 => trimmed(format!("{value:.2}")),
        size if size >= 0.1 => trimmed(format!("{value:.3}")),
        size if size >= 1e-3 => trimmed(format!("{value:.5}")),
        _ => format!("{value:.2e}"),
    }
}

/// Formats a number in short form for axis labels, as in `20k`, `1M`.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    let (factor, name) = match size {
        size if size >= 1e12 => return number(value),
        size if size >= 1e9 => (1e-9, "G"),
        size if size >= 1e6 => (1e-6, "M"),
        size if size >= 1e4 => (1e-3, "k"),
        _ => (1.0, ""),
    };
    format!("{}{name}", number(value * factor))
}

fn trimmed(text: String) -> String {
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

fn thousands(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0.0 { format!("-{text}") } else { text }
}

/// Formats a share of 1 as per cent.
pub(super) fn percent(share: f64) -> String {
    if share.is_finite() {
        format!("{} %", number((share * 1000.0).round() / 10.0))
    } else {
        NONE.to_owned()
    }
}

/// Formats an estimate with its interval.
pub(super) fn interval(value: &Interval) -> String {
    let Interval { estimate, lower, upper } = *value;
    format!("{} [{}, {}]", number(estimate), number(lower), number(upper))
}

/// Formats bytes in a suitable unit, as in `512 KiB`.
pub fn size(bytes: f64) -> String {
    Unit::of_bytes(bytes).text(bytes)
}

/// Formats seconds since 1970 as a date.
pub fn date(seconds: u64) -> String {
    let moment =
        i64::try_from(seconds).ok().and_then(|it| jiff::Timestamp::from_second(it).ok());
    moment.map_or_else(|| NONE.to_owned(), |it| it.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_figures_at_most() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (0.12345, "0.123"),
            (12.3456, "12.35"),
            (123.456, "123.5"),
            (1234.5, "1,234"),
            (1_234_567.0, "1,234,567"),
            (-1234.0, "-1,234"),
            (0.00123, "0.00123"),
            (1.5e-7, "1.50e-7"),
            (f64::NAN, NONE),
            (f64::INFINITY, NONE),
        ] {
            assert_eq!(number(value), text, "{value}");
        }
        assert_eq!(short(20_000.0), "20k");
        assert_eq!(short(1_500_000.0), "1.5M");
    }

    #[test]
    fn seconds_get_the_unit_of_the_largest() {
        let unit = Unit::of(&Measure::Seconds, 0.25);
        assert_eq!(unit.text(0.25), "250 ms");
        assert_eq!(unit.text(0.0005), "0.5 ms");
        assert_eq!(Unit::of(&Measure::Seconds, 2.0).text(0.5), "0.5 s");
        assert_eq!(Unit::of(&Measure::Seconds, 2e-8).text(2e-8), "20 ns");
    }

    #[test]
    fn a_metric_named_by_its_unit_can_be_shown_in_another() {
        let metric = |name: &str, unit: &str| {
            Unit::of(&Measure::Metric { name: name.into(), unit: unit.into() }, 1.0)
        };
        assert_eq!(metric("peak_bytes", "MiB").text(1_048_576.0), "1 MiB");
        assert_eq!(metric("cpu_seconds", "ms").text(0.5), "500 ms");
        assert_eq!(metric("major_faults", "").text(7.0), "7");
        let chosen = |name: &str, largest: f64| {
            let measure = Measure::Metric { name: name.into(), unit: String::new() };
            Unit::of(&measure, largest).text(largest)
        };
        assert_eq!(chosen("late_most_seconds", 0.002), "2 ms");
        assert_eq!(chosen("peak_bytes", 3_221_225_472.0), "3 GiB");
        assert_eq!(chosen("peak_bytes", 100.0), "100 B");
        assert_eq!(metric("rss", "MiB").text(7.0), "7 MiB");
        assert_eq!((size(524_288.0), size(512.0)), ("512 KiB".into(), "512 B".into()));
    }

    #[test]
    fn the_begin_is_a_date() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(1_764_000_000), "2025-11-24 16:00 UTC");
        assert_eq!(date(u64::MAX), NONE);
    }
}
