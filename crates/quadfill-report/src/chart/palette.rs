//! Colours: named roles on light and dark backgrounds, and a colour scale for heat maps.

use std::fmt::Write;

/// A colour as red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// `#rrggbb`.
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// Whether dark text is more legible on it than light text.
    pub fn is_light(self) -> bool {
        let Self(r, g, b) = self;
        299 * u32::from(r) + 587 * u32::from(g) + 114 * u32::from(b) > 140_000
    }
}

/// The role of a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Text and axes.
    Ink,
    /// Secondary text.
    Muted,
    /// Lines behind the data.
    Grid,
    /// The background.
    Paper,
    /// One of the colours that distinguish series.
    Series(usize),
    /// The same colour on light and dark backgrounds.
    Fixed(Rgb),
}

/// The colours on one background.
#[derive(Debug)]
pub(crate) struct Theme {
    pub(crate) ink: Rgb,
    pub(crate) muted: Rgb,
    pub(crate) grid: Rgb,
    pub(crate) paper: Rgb,
    pub(crate) series: [Rgb; SERIES],
}

/// The number of distinct series colours.
pub(crate) const SERIES: usize = 8;

pub(crate) const LIGHT: Theme = Theme {
    ink: Rgb(0x1b, 0x1f, 0x24),
    muted: Rgb(0x5b, 0x65, 0x72),
    grid: Rgb(0xe3, 0xe7, 0xec),
    paper: Rgb(0xff, 0xff, 0xff),
    series: [
        Rgb(0x25, 0x63, 0xeb),
        Rgb(0xdd, 0x6b, 0x08),
        Rgb(0x0f, 0x8f, 0x63),
        Rgb(0x8b, 0x3f, 0xd1),
        Rgb(0xd6, 0x30, 0x4a),
        Rgb(0x08, 0x85, 0xa5),
        Rgb(0x8a, 0x5a, 0x2b),
        Rgb(0x64, 0x74, 0x8b),
    ],
};

pub(crate) const DARK: Theme = Theme {
    ink: Rgb(0xe8, 0xec, 0xf1),
    muted: Rgb(0x9a, 0xa7, 0xb5),
    grid: Rgb(0x2b, 0x33, 0x3d),
    paper: Rgb(0x16, 0x1b, 0x21),
    series: [
        Rgb(0x6e, 0xa8, 0xfe),
        Rgb(0xff, 0xa9, 0x4d),
        Rgb(0x4f, 0xd1, 0xa1),
        Rgb(0xc7, 0x92, 0xea),
        Rgb(0xff, 0x7b, 0x8a),
        Rgb(0x4c, 0xc9, 0xe0),
        Rgb(0xd0, 0xa3, 0x6b),
        Rgb(0x94, 0xa3, 0xb8),
    ],
};

impl Theme {
    pub(crate) fn colour(&self, paint: Paint) -> Rgb {
        match paint {
            Paint::Ink => self.ink,
            Paint::Muted => self.muted,
            Paint::Grid => self.grid,
            Paint::Paper => self.paper,
            Paint::Series(place) => self.series[place % SERIES],
            Paint::Fixed(colour) => colour,
        }
    }

    /// CSS rules `.f-NAME` and `.s-NAME` that fill and stroke with each of the colours.
    pub(crate) fn rules(&self) -> String {
        let named = [
            ("ink".to_owned(), self.ink),
            ("muted".to_owned(), self.muted),
            ("grid".to_owned(), self.grid),
            ("paper".to_owned(), self.paper),
        ];
        let series = self.series.iter().enumerate().map(|(i, &colour)| (format!("c{i}"), colour));
        let mut rules = String::new();
        for (name, colour) in named.into_iter().chain(series) {
            let hex = colour.hex();
            let _ = write!(rules, ".qf .f-{name}{{fill:{hex}}}.qf .s-{name}{{stroke:{hex}}}");
        }
        rules
    }
}

/// The CSS of all charts, for light and dark backgrounds; dark if the reader prefers it.
///
/// ```
/// let style = quadfill_report::chart::style();
/// assert!(style.contains("prefers-color-scheme: dark"));
/// ```
pub fn style() -> String {
    format!(
        ".qf text{{font-family:Inter,system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',\
         'DejaVu Sans',sans-serif}}{}@media (prefers-color-scheme: dark){{{}}}\
         @media print{{{}}}",
        LIGHT.rules(),
        DARK.rules(),
        LIGHT.rules()
    )
}

/// From 0 to 1: dark violet over teal to bright yellow, with steadily increasing brightness.
const HEAT: [Rgb; 9] = [
    Rgb(0x36, 0x0f, 0x4d),
    Rgb(0x43, 0x2e, 0x79),
    Rgb(0x38, 0x52, 0x8b),
    Rgb(0x2b, 0x71, 0x8e),
    Rgb(0x20, 0x8f, 0x8c),
    Rgb(0x2c, 0xac, 0x7e),
    Rgb(0x66, 0xc6, 0x60),
    Rgb(0xb4, 0xda, 0x3c),
    Rgb(0xfb, 0xe7, 0x2f),
];

/// The colour of a value between 0 and 1 in heat maps.
///
/// ```
/// use quadfill_report::chart::heat_colour;
/// assert!(heat_colour(1.0).is_light() && !heat_colour(0.0).is_light());
/// ```
pub fn heat_colour(value: f64) -> Rgb {
    let position = value.clamp(0.0, 1.0) * (HEAT.len() - 1) as f64;
    let at = (position.floor() as usize).min(HEAT.len() - 2);
    let part = position - at as f64;
    let mix = |low: u8, high: u8| {
        (f64::from(low) + part * (f64::from(high) - f64::from(low))).round() as u8
    };
    let (low, high) = (HEAT[at], HEAT[at + 1]);
    Rgb(mix(low.0, high.0), mix(low.1, high.1), mix(low.2, high.2))
}
