//! How well the angles between vectors agree with human similarity ratings.

use serde::Serialize;

use super::embedding::Embeddings;

/// Pairs of words with human similarity ratings.
#[derive(Debug, Clone, PartialEq)]
pub struct SimilaritySet {
    /// Where they come from.
    pub name: String,
    /// Two words and a number that grows with their similarity.
    pub pairs: Vec<(String, String, f64)>,
}

/// How well vectors agree with a set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SimilarityScore {
    /// The set.
    pub name: String,
    /// All of its pairs.
    pub pairs: usize,
    /// Those of which both words have vectors.
    pub known: usize,
    /// The rank correlation over them, where there are enough.
    pub spearman: Option<f64>,
}

impl Embeddings {
    /// Compares the cosines of pairs of words with human similarity ratings.
    ///
    /// ```
    /// use quadfill::Labels;
    /// use quadfill::apply::{Embeddings, SimilaritySet};
    /// let words = Labels::from_names(["cat", "dog", "car"]);
    /// let vectors = Embeddings::new(words, 2, vec![1.0, 0.0, 0.9, 0.1, 0.0, 1.0])?;
    /// let pair = |x: &str, y: &str, by| (x.to_owned(), y.to_owned(), by);
    /// let pairs = vec![pair("cat", "dog", 9.0), pair("cat", "car", 1.0), pair("dog", "car", 2.0)];
    /// let score = vectors.compare(&SimilaritySet { name: "pets".into(), pairs });
    /// assert!((score.spearman.unwrap() - 1.0).abs() < 1e-12);
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn compare(&self, set: &SimilaritySet) -> SimilarityScore {
        let (given, found): (Vec<f64>, Vec<f64>) = set
            .pairs
            .iter()
            .filter_map(|(x, y, given)| Some((*given, self.cosine(self.find(x)?, self.find(y)?))))
            .unzip();
        SimilarityScore {
            name: set.name.clone(),
            pairs: set.pairs.len(),
            known: given.len(),
            spearman: spearman(&given, &found),
        }
    }
}

/// Spearman's correlation: that of the ranks, where equal numbers share the mean of their ranks.
/// `None` for fewer than two pairs, or if all numbers of one side are equal.
///
/// ```
/// use quadfill::apply::spearman;
/// assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 100.0, 1000.0]), Some(1.0));
/// assert_eq!(spearman(&[1.0, 2.0], &[5.0, 5.0]), None);
/// ```
///
/// # Panics
/// If the two are not equally long.
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    assert_eq!(x.len(), y.len(), "numbers come in pairs");
    let (x, y) = (centred_ranks(x), centred_ranks(y));
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let sizes = product(&x, &x) * product(&y, &y);
    (sizes > 0.0).then(|| product(&x, &y) / sizes.sqrt())
}

/// Ranks minus their mean.
fn centred_ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&i, &j| numbers[i].total_cmp(&numbers[j]));
    let mut ranks = vec![0.0; numbers.len()];
    let mut before = 0;
    for equal in order.chunk_by(|&i, &j| numbers[i] == numbers[j]) {
        let rank = before as f64 + 0.5 * (equal.len() as f64 - 1.0);
        for &i in equal {
            ranks[i] = rank - 0.5 * (numbers.len() as f64 - 1.0);
        }
        before += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_of_ranks_agree_with_those_by_hand() {
        // Ranks 1 2 3 4 5 against 2 1 4 3 5: 1 - 6 * 4 / (5 * 24).
        let rho = spearman(&[1.0, 2.0, 3.0, 4.0, 5.0], &[0.2, 0.1, 7.0, 0.3, 9.0]);
        assert!((rho.expect("enough") - 0.8).abs() < 1e-12);
        // Ties: ranks 1 2.5 2.5 4 against 1 2 3 4, so 4.5 / sqrt(4.5 * 5).
        let rho = spearman(&[1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]);
        assert!((rho.expect("enough") - 4.5 / (4.5f64 * 5.0).sqrt()).abs() < 1e-12);
        // Against the grain.
        let rho = spearman(&[3.0, 2.0, 1.0], &[1.0, 2.0, 3.0]);
        assert!((rho.expect("enough") + 1.0).abs() < 1e-12);
        assert_eq!(spearman(&[], &[]), None);
        assert_eq!(spearman(&[1.0], &[1.0]), None);
    }
}
