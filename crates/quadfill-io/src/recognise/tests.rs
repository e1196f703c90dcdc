//! Tables as people have them.

use super::*;

/// Facts about columns of 60 rows, each of which is made by a rule.
fn facts(columns: &[fn(u64) -> String]) -> Vec<ColumnFacts> {
    let column = |rule: &fn(u64) -> String| {
        let mut facts = ColumnFacts::default();
        (0..60).for_each(|row| facts.push(rule(row).as_bytes()));
        facts
    };
    columns.iter().map(column).collect()
}

const ID: fn(u64) -> String = |row| (row * 37 % 23).to_string();
const LARGE: fn(u64) -> String = |row| (100_000 + 7 * row).to_string();
const RATING: fn(u64) -> String = |row| (row % 5 + 1).to_string();
const REAL: fn(u64) -> String = |row| format!("{}.25", row * 31);
const SECONDS: fn(u64) -> String = |row| (881_250_949 + 7919 * row).to_string();
const DATE: fn(u64) -> String = |row| format!("2003-05-{:02}", row % 28 + 1);
const WORD: fn(u64) -> String = |row| format!("w{}", row % 9);

/// The columns of values and of times among named ones, or nameless ones if there are no names.
fn recognised(names: &[&str], columns: &[fn(u64) -> String]) -> (Option<usize>, Vec<usize>) {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let facts = facts(columns);
    let names = (!names.is_empty()).then_some(&names[..]);
    let evidence = Evidence { names, facts: &facts };
    let times = (0..facts.len()).filter(|&column| evidence.time(column).is_some());
    (evidence.value(|_| true), times.collect())
}

#[test]
fn values_and_times_are_recognised_by_names_and_fields() {
    for (names, columns, value, times) in [
        (
            &["userId", "movieId", "rating", "timestamp"][..],
            &[ID, ID, RATING, SECONDS][..],
            2,
            &[3][..],
        ),
        (&["rating", "user", "movie", "date"], &[RATING, ID, ID, DATE], 0, &[3]),
        // The best name wins, then the last column.
        (&["user", "item", "price", "score"], &[ID, ID, REAL, RATING], 3, &[]),
        (&["user", "item", "score", "price"], &[ID, ID, RATING, REAL], 2, &[]),
        (&["user", "item", "score1", "score2", "city"], &[ID, ID, RATING, RATING, ID], 3, &[]),
        // Words are labels even where they are called values.
        (&["label", "item", "temperature"], &[WORD, ID, REAL], 2, &[]),
        // Coordinates are not values.
        (&["x", "y", "temperature"], &[ID, ID, REAL], 2, &[]),
        (&["a", "b", "y", "c"], &[ID, ID, REAL, ID], 2, &[]),
        // Times and identifiers at the end are passed over.
        (&["user", "item", "liking", "when"], &[ID, ID, RATING, SECONDS], 2, &[3]),
        (&["user", "item", "liking", "seen"], &[ID, ID, RATING, SECONDS], 2, &[]),
        (&["user", "item", "liking", "shop_id"], &[ID, ID, REAL, ID], 2, &[]),
        (&["user", "item", "liking", "weight"], &[ID, ID, REAL, REAL], 2, &[]),
        (&["user", "item", "liking", "row"], &[ID, ID, REAL, LARGE], 2, &[]),
        (&["site", "depth", "salinity", "humid"], &[ID, ID, REAL, REAL], 3, &[]),
        // A time needs its fields, too.
        (&["user", "time", "effect"], &[ID, WORD, REAL], 2, &[]),
        (&["user", "day", "effect"], &[ID, DATE, REAL], 2, &[1]),
    ] {
        assert_eq!(recognised(names, columns), (Some(value), times.to_vec()), "{names:?}");
    }
    // Nothing can be meant but the last one.
    assert_eq!(recognised(&["user", "item", "time"], &[ID, ID, SECONDS]), (None, vec![2]));
}

#[test]
fn tables_without_names_may_end_with_a_time() {
    assert_eq!(recognised(&[], &[ID, ID, RATING, SECONDS]), (Some(2), vec![3]));
    assert_eq!(recognised(&[], &[ID, ID, REAL, DATE]), (Some(2), vec![3]));
    // Too many values to be ratings, or too few columns: as it was asked for, the last one.
    assert_eq!(recognised(&[], &[ID, ID, LARGE, SECONDS]), (None, vec![3]));
    assert_eq!(recognised(&[], &[ID, ID, SECONDS]), (None, vec![]));
    assert_eq!(recognised(&[], &[ID, ID, ID, REAL]), (None, vec![]));
}

#[test]
fn values_that_are_times_or_identifiers_are_doubted() {
    let doubt = |name: &str, rule, is_asked| {
        let (names, facts) = ([name.to_owned()], facts(&[rule]));
        Evidence { names: Some(&names), facts: &facts }.doubt(0, name.to_owned(), is_asked)
    };
    let time = |name: &str| Some(ColumnWarning::ValueIsTime { column: name.to_owned() });
    let identifier =
        |name: &str| Some(ColumnWarning::ValueIsIdentifier { column: name.to_owned() });
    assert_eq!(doubt("stamp", SECONDS, true), time("stamp"));
    assert_eq!(doubt("year", ID, false), time("year"));
    assert_eq!(doubt("year", ID, true), None);
    assert_eq!(doubt("userId", ID, true), identifier("userId"));
    assert_eq!(doubt("number", LARGE, true), identifier("number"));
    assert_eq!(doubt("price", LARGE, true), None);
    assert_eq!(doubt("rating", RATING, true), None);
}
