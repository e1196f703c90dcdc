//! Queries and statistics over rows.

use super::row::Row;

/// The number of observations `m = c d r` of a cubic tensor.
pub(super) fn observations(c: f64, d: usize, r: usize) -> usize {
    (c * (d * r) as f64).round() as usize
}

/// The distinct numbers under a name, ascending.
pub(super) fn distinct_numbers(rows: &[Row], name: &str) -> Vec<f64> {
    let mut all: Vec<f64> =
        rows.iter().filter(|row| row.get(name).is_some()).map(|row| row.number(name)).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// The distinct texts under a name, in order of appearance.
pub(super) fn distinct_texts(rows: &[Row], name: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for row in rows {
        let text = row.text(name);
        if !text.is_empty() && !all.iter().any(|other| other == text) {
            all.push(text.to_owned());
        }
    }
    all
}

/// The rows of a method with these settings.
pub(super) fn at<'a>(rows: &'a [Row], method: &str, settings: &[(&str, f64)]) -> Vec<&'a Row> {
    rows.iter()
        .filter(|row| row.text("method") == method)
        .filter(|row| settings.iter().all(|(name, value)| row.number(name) == *value))
        .collect()
}

/// The minimum, median and maximum of a result.
pub(super) fn min_median_max(rows: &[&Row], name: &str) -> Option<(f64, f64, f64)> {
    let mut all: Vec<f64> = rows.iter().map(|row| row.number(name)).collect();
    all.sort_by(f64::total_cmp);
    let middle = all.get((all.len().max(1) - 1) / 2).copied()?;
    let median =
        if all.len().is_multiple_of(2) { 0.5 * (middle + all[all.len() / 2]) } else { middle };
    Some((all[0], median, all[all.len() - 1]))
}

/// The number of recovered tensors.
pub(super) fn successes(rows: &[&Row]) -> usize {
    rows.iter().filter(|row| row.is("recovered")).count()
}

/// The smallest value of a setting from which on every repetition succeeds.
pub(super) fn smallest_reliable(rows: &[&Row], name: &str) -> Option<f64> {
    let owned: Vec<Row> = rows.iter().map(|row| (*row).clone()).collect();
    let mut reliable = None;
    for value in distinct_numbers(&owned, name).into_iter().rev() {
        let here = rows.iter().filter(|row| row.number(name) == value);
        if here.clone().count() == 0 || !here.clone().all(|row| row.is("recovered")) {
            break;
        }
        reliable = Some(value);
    }
    reliable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reliable_means_from_there_on() {
        let row = |c: f64, ok: bool| Row::new().with("c", c).with("recovered", ok);
        let rows =
            [row(2.0, true), row(3.0, false), row(4.0, true), row(5.0, true), row(5.0, true)];
        let all: Vec<&Row> = rows.iter().collect();
        assert_eq!(smallest_reliable(&all, "c"), Some(4.0));
        assert_eq!(smallest_reliable(&all[..2], "c"), None);
    }

    #[test]
    fn medians_are_in_the_middle() {
        let rows: Vec<Row> = [4.0, 1.0, 2.0].iter().map(|&e| Row::new().with("e", e)).collect();
        let all: Vec<&Row> = rows.iter().collect();
        assert_eq!(min_median_max(&all, "e"), Some((1.0, 2.0, 4.0)));
        assert_eq!(min_median_max(&all[..2], "e"), Some((1.0, 2.5, 4.0)));
        assert_eq!(min_median_max(&[], "e"), None);
    }
}
