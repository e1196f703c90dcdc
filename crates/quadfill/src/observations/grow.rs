//! Labels that a mode gets later.

use super::{Labels, Mode, TextLabels, canonical_integer};

impl Labels {
    /// These labels and some more, and where each of these went. Whole numbers stay in rising order;
    /// texts keep their places, new ones come behind.
    ///
    /// ```
    /// use quadfill::Labels;
    /// let (grown, places) = Labels::from_integers(vec![10, 30]).grow(["20", "30"]);
    /// assert_eq!((grown.len(), places), (3, vec![0, 2]));
    /// let (grown, places) = Labels::from_integers(vec![10, 30]).grow(["x"]);
    /// assert_eq!((grown.find("x"), places), (Some(2), vec![0, 1]));
    /// ```
    pub fn grow<S: AsRef<str>>(&self, more: impl IntoIterator<Item = S>) -> (Self, Vec<u32>) {
        let more: Vec<S> = more.into_iter().collect();
        let numbers: Option<Vec<i64>> =
            more.iter().map(|name| canonical_integer(name.as_ref().as_bytes())).collect();
        let grown = if let (Self::Integers(own), Some(numbers)) = (self, numbers) {
            Self::from_integers(own.iter().copied().chain(numbers).collect())
        } else {
            let mut text = TextLabels::default();
            for label in 0..self.len() {
                text.intern(&self.name(label));
            }
            for name in &more {
                text.intern(name.as_ref());
            }
            Self::Text(text)
        };
        let places = (0..self.len())
            .map(|label| grown.find(&self.name(label)).expect("no label is lost"))
            .collect();
        (grown, places)
    }
}

/// Modes with more labels than they had.
#[derive(Debug, Clone)]
pub struct Grown {
    /// The modes as they are now.
    pub modes: Vec<Mode>,
    /// For each mode, where its former labels are now.
    pub places: Vec<Vec<u32>>,
}

impl Grown {
    /// Gives each mode more labels. Modes of the same number in `groups` get those of each other,
    /// too, because they share their rows.
    ///
    /// # Panics
    /// Unless there is one list of labels and one group per mode.
    pub fn new(modes: &[Mode], groups: &[usize], more: &[Vec<String>]) -> Self {
        assert_eq!((modes.len(), modes.len()), (groups.len(), more.len()), "one per mode");
        let (modes, places) = modes
            .iter()
            .enumerate()
            .map(|(at, mode)| {
                let shared = (0..modes.len()).filter(|&other| groups[other] == groups[at]);
                let (labels, places) = mode.labels.grow(shared.flat_map(|other| &more[other]));
                (Mode::new(mode.name.clone(), labels), places)
            })
            .unzip();
        Self { modes, places }
    }

    /// For each mode and each of its labels, whether it is new.
    pub fn new_labels(&self) -> Vec<Vec<bool>> {
        let modes = self.modes.iter().zip(&self.places);
        modes
            .map(|(mode, places)| {
                let mut new = vec![true; mode.labels.len()];
                for &place in places {
                    new[place as usize] = false;
                }
                new
            })
            .collect()
    }
}
