//! An axis: the places of numbers and lines on it.
//!
//! A logarithmic axis is drawn as a linear one of the logarithm. 0 has no logarithm, so it gets its own
//! place below the smallest number, with a line labelled `0`.

/// An axis in guest coordinates of `plotters`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    is_log: bool,
    pub(super) from: f64,
    pub(super) to: f64,
    /// The places of lines, and their numbers.
    pub(super) ticks: Vec<(f64, f64)>,
}

/// The approximate number of lines that fit on an axis.
const LINES: f64 = 5.0;

impl Axis {
    /// Returns a linear axis from 0, or the smallest value if that is below 0, to the largest value.
    pub(super) fn linear(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = ends(values).unwrap_or((0.0, 1.0));
        let (low, high) = (low.min(0.0), if high > 0.0 { high } else { 0.0 });
        // A tiny range would give steps of 0.
        let high = if high - low > f64::MIN_POSITIVE * 1e9 { high } else { low + 1.0 };
        let step = nice((high - low) / LINES);
        let (first, last) = ((low / step).floor(), (high / step).ceil());
        let ticks = (0..=12)
            .map(|index| first + f64::from(index))
            .take_while(|index| *index <= last)
            .map(|index| (index * step, index * step));
        Self { is_log: false, from: first * step, to: last * step, ticks: ticks.collect() }
    }

    /// Returns a logarithmic axis; without a number above 0, a linear one.
    pub(super) fn log(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        let Some((low, high)) = ends(values.iter().copied().filter(|value| *value > 0.0))
        else {
            return Self::linear(values.into_iter());
        };
        let (low, high) = (low.log10(), high.log10());
        let marks = marks(low, high);
        let is_mark = |place: f64| marks.iter().any(|(mark, _)| (mark - place).abs() < 1e-9);
        // Extend the axis to lines near the numbers.
        let room = ((high - low) * 0.06).max(0.04);
        let mut from = if is_mark(low) { low } else { low - room };
        let to = if is_mark(high) { high } else { high + room };
        let mut ticks: Vec<(f64, f64)> =
            marks.into_iter().filter(|(mark, _)| (from..=to).contains(mark)).collect();
        if values.iter().any(|value| *value <= 0.0) {
            from -= ((to - from) * 0.15).max(0.2);
            ticks.retain(|(place, _)| place - from > (to - from) * 0.1);
            ticks.insert(0, (from, 0.0));
        }
        if to - from < 1e-9 {
            (from, ticks) = (from - 0.3, ticks);
            return Self { is_log: true, from, to: to + 0.3, ticks };
        }
        Self { is_log: true, from, to, ticks }
    }

    /// Returns a horizontal axis with lines at the measured places, as far as they fit.
    pub(super) fn of_places(places: &[f64], is_log: bool) -> Self {
        let all = || places.iter().copied();
        let mut axis = if is_log { Self::log(all()) } else { Self::near(all()) };
        let mut sorted: Vec<f64> = places.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted.dedup();
        let gap = (axis.to - axis.from) / 9.0;
        let mut ticks: Vec<(f64, f64)> = Vec::new();
        for value in sorted.into_iter().rev() {
            let place = axis.place(value);
            if ticks.last().is_none_or(|(last, _)| last - place >= gap) {
                ticks.push((place, value));
            }
        }
        axis.ticks = ticks;
        let room = (axis.to - axis.from) * 0.04;
        (axis.from, axis.to) = (axis.from - room, axis.to + room);
        axis
    }

    /// Returns an axis from the smallest value, or from 0 if that is near, to the largest.
    fn near(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = ends(values).unwrap_or((0.0, 1.0));
        let low = if low > 0.0 && low < high * 0.5 { 0.0 } else { low };
        let around = (high.abs() * 0.5).max(0.5);
        let (from, to) = if high > low { (low, high) } else { (low - around, high + around) };
        Self { is_log: false, from, to, ticks: Vec::new() }
    }

    /// Returns the place of a number; on a logarithmic axis, 0 and below are at the low end.
    pub(super) fn place(&self, value: f64) -> f64 {
        let place = match self.is_log {
            false => value,
            true if value > 0.0 => value.log10(),
            true => self.from,
        };
        place.clamp(self.from, self.to)
    }

    /// Returns whether bars may begin at the low end.
    pub(super) fn is_from_zero(&self) -> bool {
        !self.is_log && self.from == 0.0
    }
}

fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |ends, value| match ends {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

/// Returns the least 1, 2 or 5 times a power of ten that is not below `step`.
fn nice(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let factor =
        [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= step * 0.999);
    factor.unwrap_or(10.0) * power
}

/// Returns lines between and next to two logarithms: powers of ten, or with 2 and 5 times those, or more.
fn marks(low: f64, high: f64) -> Vec<(f64, f64)> {
    let decades = high - low;
    let factors: &[f64] = match decades {
        decades if decades > 2.0 => &[1.0],
        decades if decades > 0.6 => &[1.0, 2.0, 5.0],
        _ => &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
    };
    let every = (decades / 6.0).ceil().max(1.0);
    let mut marks = Vec::new();
    let mut power = (low / every).floor() * every;
    while power <= high + every {
        for factor in factors {
            let number = factor * 10_f64.powf(power);
            marks.push((number.log10(), number));
        }
        power += every;
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(axis: &Axis) -> Vec<f64> {
        axis.ticks.iter().map(|(_, number)| *number).collect()
    }

    fn is_drawable(axis: &Axis) -> bool {
        axis.from.is_finite()
            && axis.to.is_finite()
            && axis.from < axis.to
            && axis.ticks.iter().all(|(place, number)| {
                number.is_finite() && (axis.from..=axis.to).contains(place)
            })
    }

    #[test]
    fn a_linear_axis_begins_at_zero_and_has_round_lines() {
        let axis = Axis::linear([3.0, 9.7].into_iter());
        assert_eq!(numbers(&axis), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert!(axis.is_from_zero());
        let axis = Axis::linear([-1.0, 1.0].into_iter());
        assert!(!axis.is_from_zero() && axis.from == -1.0, "{axis:?}");
    }

    #[test]
    fn a_logarithmic_axis_has_lines_at_round_numbers() {
        let axis = Axis::log([1.0, 1000.0].into_iter());
        assert_eq!(numbers(&axis), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(axis.place(100.0), 2.0);
        let axis = Axis::log([3.0, 40.0].into_iter());
        assert_eq!(numbers(&axis), [5.0, 10.0, 20.0]);
    }

    #[test]
    fn zero_lies_below_the_smallest_number_of_a_logarithmic_axis() {
        let axis = Axis::log([0.0, 10.0, 1000.0].into_iter());
        assert!(is_drawable(&axis), "{axis:?}");
        assert_eq!(axis.place(0.0), axis.from);
        assert!(axis.place(0.0) < axis.place(10.0));
        assert_eq!(axis.ticks[0], (axis.from, 0.0));
        assert!(is_drawable(&Axis::log([0.0, 0.0].into_iter())), "linear then");
    }

    #[test]
    fn every_axis_can_be_drawn() {
        let cases: [&[f64]; 12] = [
            &[],
            &[0.0],
            &[1.0],
            &[-5.0],
            &[1e-300],
            &[1e300, 1e-300],
            &[1e300],
            &[f64::NAN, f64::INFINITY],
            &[0.0, 1e-9],
            &[7.0, 7.0],
            &[1.0, 1.0 + 1e-12],
            &[5e-324, 0.0],
        ];
        for values in cases {
            let all = || values.iter().copied();
            for axis in [Axis::linear(all()), Axis::log(all())] {
                assert!(is_drawable(&axis), "{values:?}: {axis:?}");
            }
            let finite: Vec<f64> = all().filter(|value| value.is_finite()).collect();
            for is_log in [false, true] {
                let axis = Axis::of_places(&finite, is_log);
                assert!(is_drawable(&axis), "{values:?}: {axis:?}");
            }
        }
    }

    #[test]
    fn places_that_were_measured_get_lines_while_there_is_room() {
        let axis = Axis::of_places(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0], true);
        assert_eq!(axis.ticks.len(), 6);
        let many: Vec<f64> = (1..=100).map(f64::from).collect();
        let axis = Axis::of_places(&many, false);
        assert!(axis.ticks.len() <= 10, "{axis:?}");
    }
}
