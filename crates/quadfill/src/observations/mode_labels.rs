//! Labels of a mode by name, bins by their times.

use std::borrow::Cow;

use super::bin_labels::Asked;
use super::{Labels, Mode};
use crate::error::{Error, Result};

/// What bins a mode has.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct BinsSummary {
    /// How wide each of them is: `4 weeks`.
    pub span: String,
    /// Where the first one with a label begins.
    pub first: String,
    /// Where the last one with a label ends.
    pub last: String,
}

impl Mode {
    /// A label as people read it: its name, or the times of a bin.
    ///
    /// ```
    /// use quadfill::observations::{Binning, TimeUnit};
    /// use quadfill::{Labels, Mode};
    /// let bins = Binning { origin: 1_051_747_200.0, width: 604_800.0, count: None, unit: TimeUnit::Seconds };
    /// let week = Mode { bins: Some(bins), ..Mode::new("week", Labels::range(3)) };
    /// assert_eq!(week.label(1), "2003-05-08 to 2003-05-14");
    /// assert_eq!(week.find("2003-05-08 to 2003-05-14")?, 1);
    /// assert_eq!(week.find("2003-05-20")?, 2);
    /// assert_eq!(week.find("2003")?, 0);
    /// assert!(week.find("2004").is_err());
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn label(&self, index: usize) -> Cow<'_, str> {
        match self.bins.zip(self.bin_of_label(index)) {
            Some((bins, bin)) => Cow::Owned(bins.label(bin)),
            None => self.labels.name(index),
        }
    }

    /// The index of a label. A bin is found by its [label](Mode::label), its number, or a time in it: a
    /// date, a month or a year, of which the first bin with a label is taken, or a number as in the data.
    pub fn find(&self, text: &str) -> Result<u32> {
        let Some(bins) = &self.bins else {
            return self.labels.find(text).ok_or_else(|| Error::UnknownLabel {
                mode: self.name.clone(),
                label: text.to_owned(),
            });
        };
        let text = text.trim();
        let by_time = match bins.asked(text) {
            Some(Asked::Bin) => self.labels.find(text),
            Some(Asked::Period(period)) => self
                .bins_of_labels()
                .filter(|&(_, bin)| bins.overlaps(bin, period))
                .min_by_key(|&(_, bin)| bin)
                .map(|(index, _)| index as u32),
            None => None,
        };
        let by_label = || {
            self.bins_of_labels()
                .find(|&(_, bin)| bins.label(bin) == text)
                .map(|(index, _)| index as u32)
        };
        by_time.or_else(by_label).ok_or_else(|| {
            let BinsSummary { first, last, .. } = self.bins_summary().unwrap_or_else(|| {
                BinsSummary { span: bins.span(), first: bins.ends(0, 0).0, last: bins.ends(0, 0).1 }
            });
            let range = Box::new((first, last));
            Error::UnknownTime { mode: self.name.clone(), time: text.to_owned(), range }
        })
    }

    /// The bins of the mode, if it has any.
    pub fn bins_summary(&self) -> Option<BinsSummary> {
        let bins = self.bins?;
        let (first, last) = self.bins_of_labels().fold(None, |ends, (_, bin)| match ends {
            None => Some((bin, bin)),
            Some((first, last)) => Some((bin.min(first), bin.max(last))),
        })?;
        let (first, last) = bins.ends(first, last);
        Some(BinsSummary { span: bins.span(), first, last })
    }

    /// The labels as people read them.
    pub fn shown_labels(&self) -> Cow<'_, Labels> {
        let shown = self
            .bins
            .map(|_| Labels::from_names((0..self.labels.len()).map(|index| self.label(index))));
        // Bins too narrow for their texts to differ keep their numbers.
        match shown.filter(|shown| shown.len() == self.labels.len()) {
            Some(shown) => Cow::Owned(shown),
            None => Cow::Borrowed(&self.labels),
        }
    }

    fn bin_of_label(&self, index: usize) -> Option<u32> {
        match &self.labels {
            Labels::Integers(numbers) => u32::try_from(*numbers.get(index)?).ok(),
            Labels::Text(_) => None,
        }
    }

    fn bins_of_labels(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        (0..self.labels.len()).filter_map(|index| Some((index, self.bin_of_label(index)?)))
    }
}
