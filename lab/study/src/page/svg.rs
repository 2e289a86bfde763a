//! A drawing area for `plotters` that writes classes in place of colours.
//!
//! The page may turn dark, and a series may be hidden, after the drawing. So every shape has an [`Ink`],
//! its kind and its series, which the style sheet turns into a colour. `plotters` knows only colours, so
//! an ink is encoded as one.

use std::convert::Infallible;
use std::fmt::Write;

use maud::PreEscaped;
use plotters::style::{Color, RGBColor, ShapeStyle};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend,
    DrawingErrorKind,
};

/// The kind of a shape. The discriminant is the red value of its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Role {
    Grid = 1,
    Axis,
    Text,
    Line,
    Marker,
    Range,
    Bar,
    Level,
}

/// The kind of a shape, and its series: the slot of [`super::ink`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ink {
    role: Role,
    slot: u8,
}

impl Ink {
    pub(super) const GRID: Self = Self { role: Role::Grid, slot: 0 };
    pub(super) const AXIS: Self = Self { role: Role::Axis, slot: 0 };
    pub(super) const TEXT: Self = Self { role: Role::Text, slot: 0 };

    pub(super) const fn line(slot: u8) -> Self {
        Self { role: Role::Line, slot }
    }

    pub(super) const fn marker(slot: u8) -> Self {
        Self { role: Role::Marker, slot }
    }

    /// Returns the ink of a range from quartile to quartile.
    pub(super) const fn range(slot: u8) -> Self {
        Self { role: Role::Range, slot }
    }

    pub(super) const fn bar(slot: u8) -> Self {
        Self { role: Role::Bar, slot }
    }

    /// Returns the ink of a line across the chart, for a series that was measured at one place only.
    pub(super) const fn level(slot: u8) -> Self {
        Self { role: Role::Level, slot }
    }

    /// Returns the ink as a colour of `plotters`.
    pub(super) fn color(self) -> RGBColor {
        RGBColor(self.role as u8, self.slot, 0)
    }

    /// Returns the ink as a style of `plotters`.
    pub(super) fn style(self) -> ShapeStyle {
        self.color().filled()
    }

    /// Returns the classes of shapes in this colour.
    fn classes(color: BackendColor) -> String {
        let (role, slot, _) = color.rgb;
        let letter = match role {
            1 => return "g".to_owned(),
            2 => return "a".to_owned(),
            3 => return "t".to_owned(),
            4 => 'l',
            5 => 'm',
            6 => 'e',
            8 => 'd',
            _ => 'b',
        };
        format!("{letter} k{slot}")
    }
}

/// The drawing area of `plotters`: the inside of an `<svg>`.
pub(super) struct Canvas<'t> {
    text: &'t mut String,
    size: (u32, u32),
}

type DrawResult = Result<(), DrawingErrorKind<Infallible>>;

impl<'t> Canvas<'t> {
    /// Makes an area whose elements are appended to `text`.
    pub(super) fn new(text: &'t mut String, width: u32, height: u32) -> Self {
        Self { text, size: (width, height) }
    }

    fn put(&mut self, color: BackendColor, element: std::fmt::Arguments<'_>) -> DrawResult {
        if color.alpha > 0.0 {
            let name = Ink::classes(color);
            // Writing to a `String` does not fail.
            write!(self.text, "<{element} class=\"{name}\"/>").expect("memory is there");
        }
        Ok(())
    }
}

fn points(path: impl IntoIterator<Item = BackendCoord>) -> String {
    let mut text = String::new();
    for (x, y) in path {
        let gap = if text.is_empty() { "" } else { " " };
        write!(text, "{gap}{x},{y}").expect("memory is there");
    }
    text
}

impl DrawingBackend for Canvas<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> DrawResult {
        Ok(())
    }

    fn present(&mut self) -> DrawResult {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> DrawResult {
        self.put(color, format_args!("rect x=\"{x}\" y=\"{y}\" width=\"1\" height=\"1\""))
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        (x1, y1): BackendCoord,
        (x2, y2): BackendCoord,
        style: &S,
    ) -> DrawResult {
        self.put(style.color(), format_args!("path d=\"M{x1} {y1}L{x2} {y2}\""))
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        _fill: bool,
    ) -> DrawResult {
        let (width, height) = (right.abs_diff(left), bottom.abs_diff(top));
        let (x, y) = (left.min(right), top.min(bottom));
        self.put(
            style.color(),
            format_args!("rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\""),
        )
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> DrawResult {
        self.put(style.color(), format_args!("polyline points=\"{}\"", points(path)))
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        _fill: bool,
    ) -> DrawResult {
        self.put(style.color(), format_args!("circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\""))
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> DrawResult {
        self.put(style.color(), format_args!("polygon points=\"{}\"", points(path)))
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> DrawResult {
        let anchor = match style.anchor().h_pos {
            HPos::Left => "start",
            HPos::Center => "middle",
            HPos::Right => "end",
        };
        let shift = match style.anchor().v_pos {
            VPos::Top => "0.76em",
            VPos::Center => "0.35em",
            VPos::Bottom => "-0.25em",
        };
        let name = Ink::classes(style.color());
        let PreEscaped(text) = maud::html! { (text) };
        write!(
            self.text,
            "<text x=\"{x}\" y=\"{y}\" dy=\"{shift}\" text-anchor=\"{anchor}\" class=\"{name}\">{text}</text>"
        )
        .expect("memory is there");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use plotters::prelude::*;

    use super::*;

    #[test]
    fn what_is_drawn_carries_its_class_and_no_colour() {
        let mut text = String::new();
        let area = Canvas::new(&mut text, 100, 100).into_drawing_area();
        area.draw(&Circle::new((5, 6), 3, Ink::marker(2).style())).expect("drawn");
        area.draw(&PathElement::new([(1, 2), (3, 4)], Ink::line(11).style())).expect("drawn");
        drop(area);
        assert_eq!(
            text,
            "<circle cx=\"5\" cy=\"6\" r=\"3\" class=\"m k2\"/>\
             <polyline points=\"1,2 3,4\" class=\"l k11\"/>"
        );
    }

    #[test]
    fn text_that_is_drawn_is_escaped() {
        let mut text = String::new();
        let area = Canvas::new(&mut text, 100, 100).into_drawing_area();
        let style = ("sans-serif", 26).into_font().color(&Ink::TEXT.color());
        area.draw(&Text::new("</svg><script>", (1, 2), style)).expect("drawn");
        drop(area);
        assert!(text.contains(">&lt;/svg&gt;&lt;script&gt;</text>"), "{text}");
        assert!(text.contains("class=\"t\""), "{text}");
    }
}
