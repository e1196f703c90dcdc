//! What the name of a column says about it.

/// What a column is for, going by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A value; a smaller number is a better one.
    Value(u8),
    /// A time, if its fields are times.
    Time,
    /// A part of a date, such as the year.
    DatePart,
    Identifier,
    Weight,
    Anything,
}

/// Names of values, those first that leave less doubt. The first are what people rate or measure; the
/// last may also describe an item.
const VALUES: [&[&str]; 3] = [
    &[
        "rating",
        "ratings",
        "value",
        "values",
        "val",
        "score",
        "scores",
        "star",
        "stars",
        "overall",
        "response",
        "responses",
        "measurement",
        "measurements",
        "reading",
        "readings",
        "grade",
        "grades",
        "preference",
        "relevance",
    ],
    &[
        "target",
        "label",
        "y",
        "count",
        "counts",
        "cnt",
        "frequency",
        "freq",
        "plays",
        "playcount",
        "clicks",
    ],
    &["amount", "amounts", "price", "prices", "quantity", "qty"],
];
const TIMES: [&str; 15] = [
    "timestamp",
    "timestamps",
    "time",
    "times",
    "date",
    "dates",
    "datetime",
    "ts",
    "unixtime",
    "unix",
    "epoch",
    "created",
    "updated",
    "modified",
    "when",
];
const DATE_PARTS: [&str; 9] =
    ["year", "month", "week", "day", "weekday", "hour", "minute", "quarter", "decade"];
const IDENTIFIERS: [&str; 6] = ["id", "ids", "uid", "uuid", "guid", "key"];
const WEIGHTS: [&str; 2] = ["weight", "weights"];

/// What a name says. The last word counts most: `rating_time` is a time and `userRating` a value.
pub(crate) fn meaning(name: &str) -> Meaning {
    let words = words(name);
    let Some(last) = words.last().map(String::as_str) else {
        return Meaning::Anything;
    };
    let is_alone = words.len() == 1;
    if let Some(tier) = VALUES.iter().position(|tier| tier.contains(&last))
        && (last != "y" || is_alone)
    {
        return Meaning::Value(tier as u8);
    }
    if IDENTIFIERS.contains(&last) || (is_alone && last.len() > 4 && last.ends_with("id")) {
        return Meaning::Identifier;
    }
    if WEIGHTS.contains(&last) {
        return Meaning::Weight;
    }
    // `unixreviewtime` has no seams between its words.
    let is_time = |word: &str| {
        TIMES.contains(&word) || ["time", "timestamp", "date"].iter().any(|end| word.ends_with(end))
    };
    if last == "at" || words.iter().any(|word| is_time(word)) {
        return Meaning::Time;
    }
    if DATE_PARTS.contains(&last) { Meaning::DatePart } else { Meaning::Anything }
}

/// The words of a name in small letters: `userId`, `user_id` and `User ID` are `user`, `id`. Digits at
/// the end of words are left out.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter.is_alphanumeric() {
            // `userID` and `UNIXTime`: a capital begins a word after a small letter and before one.
            let after_small = letter.is_uppercase() && before.is_lowercase();
            let before_small = letter.is_uppercase()
                && before.is_uppercase()
                && letters.peek().is_some_and(|next| next.is_lowercase());
            if after_small || before_small || !before.is_alphanumeric() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(letter.to_lowercase());
            }
        }
        before = letter;
    }
    for word in &mut words {
        word.truncate(word.trim_end_matches(|letter: char| letter.is_ascii_digit()).len());
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_in_their_many_spellings() {
        for (name, expected) in [
            ("rating", Meaning::Value(0)),
            ("Ratings", Meaning::Value(0)),
            ("userRating", Meaning::Value(0)),
            ("review_score", Meaning::Value(0)),
            ("tagValue", Meaning::Value(0)),
            ("STARS", Meaning::Value(0)),
            ("rating_5", Meaning::Value(0)),
            ("score2", Meaning::Value(0)),
            ("y", Meaning::Value(1)),
            ("play count", Meaning::Value(1)),
            ("unit-price", Meaning::Value(2)),
            ("timestamp", Meaning::Time),
            ("unixReviewTime", Meaning::Time),
            ("unixreviewtime", Meaning::Time),
            ("created_at", Meaning::Time),
            ("ratingTimestamp", Meaning::Time),
            ("TS", Meaning::Time),
            ("date added", Meaning::Time),
            ("userId", Meaning::Identifier),
            ("movieID", Meaning::Identifier),
            ("item id", Meaning::Identifier),
            ("movieid", Meaning::Identifier),
            ("value_id", Meaning::Identifier),
            ("weight", Meaning::Weight),
            ("sampleWeight", Meaning::Weight),
            ("year", Meaning::DatePart),
            ("paid", Meaning::Anything),
            ("user", Meaning::Anything),
            ("pos_y", Meaning::Anything),
            ("7", Meaning::Anything),
            ("", Meaning::Anything),
            ("--", Meaning::Anything),
        ] {
            assert_eq!(meaning(name), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn spelling_makes_no_difference(first in "[a-z]{2,6}", second in "[a-z]{2,6}") {
            let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
            let expected = [first.clone(), second.clone()];
            for name in [
                format!("{first}_{second}"),
                format!("{first} {second}"),
                format!("{first}{}", capital(&second)),
                format!("{}{}", capital(&first), capital(&second)),
                format!("{}-{}", first.to_uppercase(), second.to_uppercase()),
            ] {
                prop_assert_eq!(&words(&name)[..], &expected[..], "{}", name);
            }
        }

        #[test]
        fn any_name_has_a_meaning(name in "\\PC{0,12}") {
            meaning(&name);
        }
    }
}
