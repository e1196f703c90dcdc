//! Counting agrees with doing it plainly, however the text is cut, packed and shared out.

use std::collections::BTreeMap;
use std::io::Write;

use proptest::prelude::*;

use super::*;

type Counted = BTreeMap<[String; 3], u64>;

fn plain_words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The most frequent words and the triples of them, by the definition.
fn naive(texts: &[String], options: &CorpusOptions) -> (Vec<String>, Counted) {
    let files: Vec<Vec<String>> = texts.iter().map(|text| plain_words(text)).collect();
    let mut frequency: BTreeMap<&String, u64> = BTreeMap::new();
    for word in files.iter().flatten() {
        *frequency.entry(word).or_default() += 1;
    }
    let mut words: Vec<(&String, u64)> = frequency.into_iter().collect();
    words.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let vocabulary: Vec<String> =
        words.into_iter().take(options.vocabulary).map(|(word, _)| word.clone()).collect();
    let mut counted = Counted::new();
    for window in files.iter().flat_map(|words| words.windows(3)) {
        if !window.iter().all(|word| vocabulary.contains(word)) {
            continue;
        }
        let orders: &[[usize; 3]] = if options.all_orders {
            &[[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
        } else {
            &[[0, 1, 2]]
        };
        let mut triples: Vec<[String; 3]> =
            orders.iter().map(|order| order.map(|at| window[at].clone())).collect();
        triples.sort();
        triples.dedup();
        for triple in triples {
            *counted.entry(triple).or_default() += 1;
        }
    }
    (vocabulary, counted)
}

fn named(counts: &TripleCounts) -> Counted {
    counts
        .triples()
        .map(|triple| (triple.words.map(|word| counts.words[word as usize].clone()), triple.count))
        .collect()
}

fn files(texts: &[String], folder: &std::path::Path) -> Vec<PathBuf> {
    texts
        .iter()
        .enumerate()
        .map(|(at, text)| {
            // Every other file is packed, one way or the other.
            let (name, bytes) = match at % 3 {
                0 => (format!("{at}.txt"), text.as_bytes().to_vec()),
                1 => {
                    let mut packer =
                        flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
                    packer.write_all(text.as_bytes()).expect("packed");
                    (format!("{at}.txt.gz"), packer.finish().expect("packed"))
                }
                _ => (
                    format!("{at}.txt.zst"),
                    zstd::stream::encode_all(text.as_bytes(), 1).expect("packed"),
                ),
            };
            let path = folder.join(name);
            std::fs::write(&path, bytes).expect("written");
            path
        })
        .collect()
}

/// Few words, so that they repeat, with all that may stand between them. Blocks end at ASCII only, so of
/// two dashes in a row one becomes a blank: a run without a blank is shorter than any block.
fn text() -> impl Strategy<Value = String> {
    const DASH: &str = "\u{2014}";
    let word = prop::sample::select(vec!["a", "B", "cc", "The", "the", "\u{e9}t\u{c9}", "zz"]);
    let between = prop::sample::select(vec![" ", "\n", ", ", DASH, " 7 ", "'"]);
    prop::collection::vec((word, between), 0..60).prop_map(|parts| {
        let (mut text, mut before) = (String::new(), " ");
        for (word, gap) in parts {
            let gap = if before == DASH && gap == DASH { " " } else { gap };
            text.extend([word, gap]);
            before = gap;
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn counting_in_blocks_is_counting(
        texts in prop::collection::vec(text(), 1..4),
        vocabulary in 1..4usize,
        all_orders: bool,
        block in 24..90usize,
        threads in 1..4usize,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let files = files(&texts, folder.path());
        let options = CorpusOptions { vocabulary, all_orders };
        let (words, counted) = naive(&texts, &options);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        match pool.install(|| count_in_blocks(&files, &options, block)) {
            Ok(counts) => {
                prop_assert_eq!(&counts.words, &words);
                prop_assert_eq!(named(&counts), counted);
                let total: usize = texts.iter().map(|text| plain_words(text).len()).sum();
                prop_assert_eq!(counts.total_words, total as u64);
            }
            Err(ReadError::TooFewWords { .. } | ReadError::NoWords { .. } | ReadError::NoTriples) => {
                prop_assert!(words.len() < vocabulary || counted.is_empty());
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}

#[test]
fn many_keys_are_counted_in_many_runs() {
    let mut counter = KeyCounter::default();
    let mut expected = BTreeMap::new();
    let mut key = 1u64;
    for _ in 0..(1 << 22) + 5000 {
        key = key.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        counter.add(key >> 52);
        *expected.entry(key >> 52).or_insert(0) += 1;
    }
    assert_eq!(KeyCounter::merge([counter].into_iter()), expected.into_iter().collect::<Vec<_>>());
}

#[test]
fn a_wrong_byte_is_found_in_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("latin.txt");
    let mut text = b"one two three\n".repeat(40);
    text.extend_from_slice(b"caf\xe9 four\n");
    std::fs::write(&path, text).expect("written");
    let options = CorpusOptions { vocabulary: 2, all_orders: false };
    let error = count_in_blocks(&[path], &options, 64).expect_err("not UTF-8");
    assert!(matches!(error, ReadError::NotUtf8 { line: 41, .. }), "{error}");
}

#[test]
fn text_without_blanks_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("blob.txt");
    std::fs::write(&path, "x".repeat(200)).expect("written");
    let options = CorpusOptions { vocabulary: 1, all_orders: false };
    let error = count_in_blocks(&[path], &options, 64).expect_err("no blank");
    assert!(matches!(error, ReadError::Unsupported { .. }), "{error}");
}
