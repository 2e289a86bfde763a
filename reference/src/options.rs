//! Option contracts, one line after the other: their terms, and their prices.
//!
//! ```text
//! 2                                                      the number of contracts
//! 42.00 40.00 0.1000 0.00 0.20 0.50 C 0.00 4.759422      S K r q vol T kind dividends reference
//! 42.00 40.00 0.1000 0.00 0.20 0.50 P 0.00 0.808599
//! ```

/// One contract.
#[derive(Clone, Debug, PartialEq)]
pub struct Contract {
    /// The current price of the underlying.
    pub spot: f64,
    /// The price at which it can be bought or sold.
    pub strike: f64,
    /// The risk-free interest rate, continuous, per year.
    pub rate: f64,
    /// The dividend yield of the underlying, continuous, per year.
    pub dividend_yield: f64,
    /// The standard deviation of a year's logarithmic return.
    pub volatility: f64,
    /// Years to expiry.
    pub years: f64,
    /// Whether it is a right to sell, not to buy.
    pub is_put: bool,
}

impl Contract {
    /// Returns the price with the normal distribution of Abramowitz and Stegun 26.2.17.
    #[must_use]
    pub fn price(&self) -> f64 {
        self.price_by(polynomial)
    }

    /// Returns the price with the normal distribution to about 15 digits.
    #[must_use]
    pub fn right_price(&self) -> f64 {
        self.price_by(series)
    }

    fn price_by(&self, normal: fn(f64) -> f64) -> f64 {
        let spread = self.volatility * self.years.sqrt();
        let growth = self.rate - self.dividend_yield + self.volatility * self.volatility / 2.0;
        let d1 = ((self.spot / self.strike).ln() + growth * self.years) / spread;
        let d1 = if d1.is_nan() { 0.0 } else { d1 };
        let d2 = d1 - spread;
        let spot = self.spot * (-self.dividend_yield * self.years).exp();
        let strike = self.strike * (-self.rate * self.years).exp();
        match self.is_put {
            false => spot * normal(d1) - strike * normal(d2),
            true => strike * (1.0 - normal(d2)) - spot * (1.0 - normal(d1)),
        }
    }
}

fn density(x: f64) -> f64 {
    (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

fn polynomial(x: f64) -> f64 {
    let k = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let above = density(x)
        * (0.319_381_530 * k - 0.356_563_782 * k.powi(2) + 1.781_477_937 * k.powi(3)
            - 1.821_255_978 * k.powi(4)
            + 1.330_274_429 * k.powi(5));
    if x < 0.0 { above } else { 1.0 - above }
}

/// Computes the Taylor series around 0 divided by the density, whose terms are all positive; far
/// from 0, the remainder is too small for a double near 1.
fn series(x: f64) -> f64 {
    if x.abs() > 9.0 {
        return if x < 0.0 { 0.0 } else { 1.0 };
    }
    let (mut term, mut sum) = (x, x);
    for odd in (3..400).step_by(2) {
        term *= x * x / f64::from(odd);
        sum += term;
    }
    0.5 + density(x) * sum
}

/// Returns the contracts of a whole file, each with its reference price; otherwise the number of
/// the first faulty line, counted from 1.
///
/// Lines end with `
/// ` or `\r
/// `, which the last one may lack; fields are separated by blanks and tabs. Lines may be empty only
/// after the number of contracts that the first line announces.
///
/// # Errors
///
/// The first line that differs from this format; the line after the last one if lines are missing.
pub fn parse(text: &[u8]) -> Result<Vec<(Contract, f64)>, u64> {
    let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let mut lines_of = lines.iter().zip(1..);
    let declared = match lines_of.next() {
        Some((line, _)) => match fields(line).as_deref() {
            Some([count]) if count.bytes().all(|byte| byte.is_ascii_digit()) => {
                count.parse::<u64>().map_err(|_| 1_u64)?
            }
            _ => return Err(1),
        },
        None => return Err(1),
    };
    let mut contracts = Vec::new();
    for (text, line) in lines_of {
        if contracts.len() as u64 == declared {
            if !text.iter().all(|byte| b" \t\r".contains(byte)) {
                return Err(line);
            }
            continue;
        }
        let fields = fields(text).ok_or(line)?;
        contracts.push(contract(&fields).ok_or(line)?);
    }
    match contracts.len() as u64 == declared {
        true => Ok(contracts),
        false => Err(lines.len() as u64 + 1),
    }
}

/// Returns the words of a line; `None` if it is not text.
fn fields(line: &[u8]) -> Option<Vec<String>> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = std::str::from_utf8(line).ok()?;
    Some(line.split([' ', '\t']).filter(|it| !it.is_empty()).map(String::from).collect())
}

fn contract(fields: &[String]) -> Option<(Contract, f64)> {
    let [spot, strike, rate, dividend_yield, volatility, years, kind, dividends, reference] =
        fields
    else {
        return None;
    };
    let contract = Contract {
        spot: number(spot).filter(|&it| it > 0.0)?,
        strike: number(strike).filter(|&it| it > 0.0)?,
        rate: number(rate)?,
        dividend_yield: number(dividend_yield)?,
        volatility: number(volatility).filter(|&it| it >= 0.0)?,
        years: number(years).filter(|&it| it >= 0.0)?,
        is_put: match kind.as_str() {
            "C" => false,
            "P" => true,
            _ => return None,
        },
    };
    // The formula does not cover discrete dividends.
    number(dividends).filter(|&it| it == 0.0)?;
    Some((contract, number(reference)?))
}

/// Parses a finite number in decimal notation.
fn number(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| b"0123456789+-.eE".contains(&byte));
    text.parse().ok().filter(|it: &f64| is_plain && it.is_finite())
}

/// Returns a line made from `bits`: mostly in the usual form of programs, but in `odd` of 100
/// fields any allowed form.
pub fn line(bits: &mut impl FnMut() -> u64, odd: u64) -> String {
    let mut below = |limit: u64| bits() % limit;
    let mut number = |least: u64, most: u64, decimals: u64| {
        let mut text = format!("{}", least + below(most - least));
        if decimals > 0 {
            text.push('.');
            for _ in 0..decimals {
                text.push(char::from(b'0' + u8::try_from(below(10)).expect("a digit")));
            }
        }
        if below(100) < odd {
            text = match below(5) {
                0 => format!("+{text}"),
                1 => format!("{text}e0"),
                2 => format!("{text}E-1"),
                3 => format!("0000{text}"),
                _ => format!("{text}0000000000000000000000"),
            };
        }
        text
    };
    let fields = [
        number(1, 200, 2),
        number(1, 2000, 2),
        number(0, 1, 4),
        number(0, 1, 2),
        number(0, 1, 2),
        number(0, 3, 2),
        number(0, 30, 18),
    ];
    let [spot, strike, rate, dividend_yield, volatility, years, price] = fields;
    let is_negative = !rate.starts_with('+') && below(100) < odd;
    let rate = if is_negative { format!("-{rate}") } else { rate };
    let kind = if below(2) == 0 { "C" } else { "P" };
    let blank = if below(100) < odd { " \t " } else { " " };
    let end = if below(100) < odd { " \r" } else { "" };
    let line =
        [&spot, &strike, &rate, &dividend_yield, &volatility, &years, kind, "0.00", &price];
    line.join(blank) + end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contract(is_put: bool) -> Contract {
        Contract {
            spot: 42.0,
            strike: 40.0,
            rate: 0.1,
            dividend_yield: 0.0,
            volatility: 0.2,
            years: 0.5,
            is_put,
        }
    }

    #[test]
    fn the_example_of_the_textbook_has_its_prices() {
        // Hull, Options, Futures and Other Derivatives: 4.76 and 0.81.
        assert!((contract(false).right_price() - 4.759_422_392_871_532).abs() < 1e-13);
        assert!((contract(true).right_price() - 0.808_599_372_900_09).abs() < 1e-13);
        for is_put in [false, true] {
            let contract = contract(is_put);
            assert!((contract.price() - contract.right_price()).abs() < 1e-5);
        }
    }

    #[test]
    fn what_is_wrong_is_wrong_on_its_line() {
        const GOOD: &str = "42 40 0.1 0 0.2 0.5 P 0 0.8";
        for (text, right) in [
            (format!("1\n{GOOD}\n"), Ok(1)),
            (format!("1\r\n{GOOD}\r\n\r\n \n"), Ok(1)),
            (format!(" 2\n{GOOD}\n\t{GOOD} "), Ok(2)),
            (String::from("0"), Ok(0)),
            (String::new(), Err(1)),
            (format!("1 2\n{GOOD}\n"), Err(1)),
            (format!("-1\n{GOOD}\n"), Err(1)),
            (format!("2\n{GOOD}\n"), Err(3)),
            (format!("2\n{GOOD}\n\n"), Err(3)),
            (format!("1\n{GOOD}\n{GOOD}\n"), Err(3)),
            (format!("1\n{GOOD} 1\n"), Err(2)),
            (format!("1\n{GOOD}\0\n"), Err(2)),
            (String::from("1\n42 40 0.1 0 0.2 0.5 X 0 0.8\n"), Err(2)),
            (String::from("1\n42 40 0.1 0 inf 0.5 P 0 0.8\n"), Err(2)),
            (String::from("1\n0 40 0.1 0 0.2 0.5 P 0 0.8\n"), Err(2)),
            (String::from("1\n42 40 0.1 0 0.2 0.5 P 1 0.8\n"), Err(2)),
        ] {
            assert_eq!(parse(text.as_bytes()).map(|it| it.len()), right, "{text:?}");
        }
    }
}
