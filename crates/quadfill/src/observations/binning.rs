//! Times cut into bins.

use serde::{Deserialize, Serialize};

/// Bins with a fixed origin and width; the label of a time is the number of its bin.
///
/// ```
/// use quadfill::observations::{Binning, TimeUnit};
/// let days = Binning { origin: 1000.0, width: 86400.0, count: None, unit: TimeUnit::Number };
/// assert_eq!(days.bin(1000.0), Some(0));
/// assert_eq!(days.bin(90000.0), Some(1));
/// assert_eq!(days.bin(999.0), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Binning {
    /// Where bin 0 begins: the smallest time of the data.
    pub origin: f64,
    /// Width of a bin in seconds.
    pub width: f64,
    /// How many bins there are, if a number of equal bins was asked for; the last one includes
    /// its end.
    pub count: Option<u32>,
    /// What a number in the column of times means.
    #[serde(default, skip_serializing_if = "TimeUnit::is_default")]
    pub unit: TimeUnit,
}

/// What a number in a column of times means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeUnit {
    /// Seconds from a zero that is not known; if it is large enough, since 1970.
    #[default]
    Number,
    /// Seconds since 1970.
    Seconds,
    /// Milliseconds since 1970.
    Milliseconds,
}

impl TimeUnit {
    /// How many seconds a unit has.
    pub fn seconds(self) -> f64 {
        match self {
            Self::Number | Self::Seconds => 1.0,
            Self::Milliseconds => 1e-3,
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Binning {
    /// Whether origin, width and number can be those of bins.
    pub fn is_valid(&self) -> bool {
        let positive = self.width.is_finite() && self.width > 0.0;
        self.origin.is_finite() && positive && self.count != Some(0)
    }

    /// The number of the bin a time falls into, if it is one of the bins.
    pub fn bin(&self, time: f64) -> Option<u32> {
        let widths = (time - self.origin) / self.width;
        if !(widths >= 0.0 && widths < f64::from(u32::MAX)) {
            return None;
        }
        let bin = widths as u32;
        match self.count {
            Some(count) if bin >= count => {
                // Rounding may put the last time a little past the end.
                let end = self.origin + self.width * f64::from(count);
                let slack = 1e-9 * self.width;
                if time <= end + slack { count.checked_sub(1) } else { None }
            }
            _ => Some(bin),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_a_number_of_bins_includes_its_end() {
        let unit = TimeUnit::Number;
        let mut bins = Binning { origin: 0.0, width: 10.0, count: Some(3), unit };
        assert_eq!(bins.bin(29.9), Some(2));
        assert_eq!(bins.bin(30.0), Some(2));
        assert_eq!(bins.bin(30.1), None);
        assert_eq!(bins.bin(f64::NAN), None);
        bins.count = Some(0);
        assert_eq!(bins.bin(0.0), None);
    }
}
