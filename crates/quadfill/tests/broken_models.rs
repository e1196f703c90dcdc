//! Model files that are damaged are refused with the reason, and no bytes make the reader panic.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod models;

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use quadfill::Model;
use quadfill::model::Biases;
use serde_json::{Value, json};

fn sound() -> [Vec<u8>; 3] {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model");
    let parts = models::parts::<f64>(&models::tied(Biases::Modes));
    parts.model().save(&path).expect("it can be saved");
    models::files(&path)
}

fn message(files: &[Vec<u8>; 3]) -> String {
    let [json, tensors, labels] = files;
    match Model::from_files(json, tensors, labels) {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn descriptions() {
    let files = sound();
    for (pointer, value, expected) in [
        ("", json!([]), None),
        (
            "/format",
            json!("other"),
            Some(
                "its format is `other` and not `quadfill-model`: give a model that Quadfill saved",
            ),
        ),
        (
            "/version",
            json!(5),
            Some(
                "it was written by a newer version of Quadfill (format 5, this one knows up to 4): upgrade Quadfill to open it",
            ),
        ),
        (
            "/version",
            json!(0),
            Some(
                "there is no format version 0: the file is damaged, fit the model again or use an intact copy",
            ),
        ),
        ("/version", json!(-1), None),
        (
            "/spec/rank",
            json!(0),
            Some(
                "`rank` is 0: it must be from 1 to 4096: the file is damaged, fit the model again or use an intact copy",
            ),
        ),
        (
            "/spec/rank",
            json!(5000),
            Some(
                "`rank` is 5000: it must be from 1 to 4096: the file is damaged, fit the model again or use an intact copy",
            ),
        ),
        ("/spec/rank", json!(-3), None),
        (
            "/spec/groups",
            json!([0, 1]),
            Some(
                "the kernel is for 3 modes but the model has 2: the file is damaged, fit the model again or use an intact copy",
            ),
        ),
        (
            "/spec/groups",
            json!([0]),
            Some(
                "the model has 1 modes instead of 2 to 8: the file is damaged, fit the model again or use an intact copy",
            ),
        ),
        (
            "/spec/groups",
            json!([0, 1, 2, 3, 4, 5, 6, 7, 8]),
            Some(
                "the model has 9 modes instead of 2 to 8: the file is damaged, fit the model again or use an intact copy",
            ),
        ),
        (
            "/spec/groups",
            json!([0, u64::MAX, 0]),
            Some(
                "there is no factor matrix 18446744073709551615: the file is damaged, fit the model again or use an intact copy",
            ),
        ),
        (
            "/spec/groups",
            json!([0, 0, 0]),
            Some(
                "modes that share factors must have the same labels: the file is damaged, fit the model again or use an intact copy",
            ),
        ),
        (
            "/spec/groups",
            json!([0, 1, 2]),
            Some(
                "the tensors of mode `to` are not those of its factor matrix 2: the file is damaged, fit the model again or use an intact copy",
            ),
        ),
        ("/spec/interaction", json!({"quadratic": [[0.0, 1.0], [2.0, 0.0]]}), None),
        (
            "/spec/interaction",
            json!({"quadratic": [[0.0, 1.0], [1.0, 0.0]]}),
            Some(
                "the kernel is for 2 modes but the model has 3: the file is damaged, fit the model again or use an intact copy",
            ),
        ),
        ("/spec/interaction", json!("magic"), None),
        (
            "/modes",
            json!([]),
            Some(
                "the model is for 3 modes but the data have 0: the file is damaged, fit the model again or use an intact copy",
            ),
        ),
        (
            "/modes/1/count",
            json!(u64::MAX),
            Some(
                "a mode cannot have 18446744073709551615 labels: the file is damaged, fit the model again or use an intact copy",
            ),
        ),
        (
            "/modes/1/factors",
            json!("factors.0"),
            Some(
                "the tensors of mode `wörd \"x\"` are not those of its factor matrix 1: the file is damaged, fit the model again or use an intact copy",
            ),
        ),
        (
            "/summary/config/ties",
            json!([["1"]]),
            Some(
                "its settings are invalid, `ties` needs two or more modes in each list, such as head,tail: the file is damaged, fit the model again or use an intact copy",
            ),
        ),
        (
            "/summary/config/ties",
            json!([["1", "9"]]),
            Some(
                "its settings are invalid, there is no mode `9`: the modes are from, wörd \"x\", to: the file is damaged, fit the model again or use an intact copy",
            ),
        ),
        ("/summary/precision", json!("f16"), None),
        (
            "/modes/2/bins/width",
            json!(0.0),
            Some(
                "the bins of mode `to` are invalid: the file is damaged, fit the model again or use an intact copy",
            ),
        ),
        (
            "/modes/2/bins/count",
            json!(0),
            Some(
                "the bins of mode `to` are invalid: the file is damaged, fit the model again or use an intact copy",
            ),
        ),
    ] {
        let mut description: Value = serde_json::from_slice(&files[0]).unwrap();
        *description.pointer_mut(pointer).unwrap() = value;
        let mut broken = files.clone();
        broken[0] = serde_json::to_vec(&description).unwrap();
        let message = message(&broken);
        match expected {
            Some(reason) => assert_eq!(message, format!("model.json: {reason}"), "{pointer}"),
            None => assert!(
                message.starts_with("model.json: this is not the description of a model, ")
                    && message.ends_with(
                        ": the file is damaged, fit the model again or use an intact copy"
                    ),
                "{pointer}: {message}"
            ),
        }
    }
}

/// Bins of versions 1 and 2 name their mode.
#[test]
fn older_descriptions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compat/v1");
    let files = models::files(&folder);
    assert_eq!(message(&files), "no error");
    for (pointer, value, reason) in [
        ("/notes/bins/0/mode", json!("else"), "the bins of mode `else` belong to no mode"),
        ("/notes/bins/0/width", json!(0.0), "the bins of mode `to` are invalid"),
        (
            "/notes/config/tolerance",
            json!(-1),
            "its settings are invalid, `tolerance` is -1: it must be a number not below 0",
        ),
        (
            "/notes/config/model/groups",
            json!([0, 9, 0]),
            "in the settings, there is no factor matrix 9",
        ),
        (
            "/notes/config/model/groups",
            json!([0, u64::MAX, 0]),
            "in the settings, there is no factor matrix 18446744073709551615",
        ),
        (
            "/notes/config/model/groups",
            json!([]),
            "in the settings, the model has 0 modes instead of 2 to 8",
        ),
    ] {
        let mut description: Value = serde_json::from_slice(&files[0]).unwrap();
        *description.pointer_mut(pointer).unwrap() = value;
        let broken =
            [serde_json::to_vec(&description).unwrap(), files[1].clone(), files[2].clone()];
        let expected = format!(
            "model.json: {reason}: the file is damaged, fit the model again or use an intact copy"
        );
        assert_eq!(message(&broken), expected);
    }
}

#[test]
fn labels() {
    let files = sound();
    let lines: Vec<&str> = std::str::from_utf8(&files[2]).unwrap().lines().collect();
    let with = |line: usize, text: &str| {
        let mut lines = lines.clone();
        lines[line - 1] = text;
        lines.join("\n").into_bytes()
    };
    let all = files[2].clone();
    for (bytes, reason) in [
        (
            all[..30].to_vec(),
            "line 2: this is not a label of the expected kind: the file is damaged, fit the model again or use an intact copy",
        ),
        (
            lines[..9].join("\n").into_bytes(),
            "line 10: the labels end here but the model has more: the file is damaged, fit the model again or use an intact copy",
        ),
        (
            [&all[..], b"[2,9]\n"].concat(),
            "there are more lines than the 15 labels of the model: the file is damaged, fit the model again or use an intact copy",
        ),
        (
            with(2, "[0,\"x\"]"),
            "line 2: this is not a label of the expected kind: the file is damaged, fit the model again or use an intact copy",
        ),
        (
            with(2, "[0,1.5]"),
            "line 2: this is not a label of the expected kind: the file is damaged, fit the model again or use an intact copy",
        ),
        (
            with(2, "[1,-1]"),
            "line 2: a label of mode 0 was expected: the file is damaged, fit the model again or use an intact copy",
        ),
        (
            with(3, "[0,-1]"),
            "line 3: label -1 is not above the one before it: the file is damaged, fit the model again or use an intact copy",
        ),
        (
            with(7, "[1,\"a\\nb\"]"),
            "line 7: label \"a\\nb\" is there twice: the file is damaged, fit the model again or use an intact copy",
        ),
        (
            vec![0xff, 0xfe],
            "line 1: this is not a label of the expected kind: the file is damaged, fit the model again or use an intact copy",
        ),
    ] {
        let broken = [files[0].clone(), files[1].clone(), bytes];
        assert_eq!(message(&broken), format!("labels.jsonl: {reason}"));
    }
}

/// The same file with a part of its header written in another way of the same length.
fn with_header(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let at = bytes
        .windows(from.len())
        .position(|part| part == from.as_bytes())
        .expect("it is in the header");
    let mut changed = bytes.to_vec();
    changed[at..at + to.len()].copy_from_slice(to.as_bytes());
    changed
}

#[test]
fn numbers() {
    let files = sound();
    let tensors = &files[1];
    // The mean is the last number, a factor the one before it.
    let with_number = |from_end: usize, number: f64| {
        let mut bytes = tensors.clone();
        let at = bytes.len() - 8 * from_end;
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        bytes
    };
    let (nan, huge) = (with_number(1, f64::NAN), with_number(2, f64::MAX));
    for (bytes, reason) in [
        (
            Vec::new(),
            "the tensors cannot be read, header too small: the file is damaged, fit the model again or use an intact copy",
        ),
        (
            vec![0xff; 64],
            "the tensors cannot be read, header too large: the file is damaged, fit the model again or use an intact copy",
        ),
        (
            tensors[..tensors.len() - 1].to_vec(),
            "the tensors cannot be read, incomplete metadata, file not fully covered: the file is damaged, fit the model again or use an intact copy",
        ),
        (
            nan,
            "tensor `mean` has a number that is not finite: the file is damaged, fit the model again or use an intact copy",
        ),
        (
            huge,
            "it has numbers so large that predictions would not be finite: the file is damaged, fit the model again or use an intact copy",
        ),
        (
            with_header(tensors, "[7,3]", "[3,7]"),
            "tensor `factors.1` has the shape [3, 7] where [7, 3] was expected: the file is damaged, fit the model again or use an intact copy",
        ),
        (
            with_header(tensors, "biases.1", "biases.9"),
            "tensor `biases.1` is missing: the file is damaged, fit the model again or use an intact copy",
        ),
        (
            with_header(tensors, "F64", "I64"),
            "tensor `biases.0` is of type I64 where f64 was expected: the file is damaged, fit the model again or use an intact copy",
        ),
    ] {
        let broken = [files[0].clone(), bytes, files[2].clone()];
        assert_eq!(message(&broken), format!("model.safetensors: {reason}"));
    }
    // The description claims more than the tensors have.
    let mut description: Value = serde_json::from_slice(&files[0]).unwrap();
    description["spec"]["rank"] = json!(4);
    let broken = [serde_json::to_vec(&description).unwrap(), files[1].clone(), files[2].clone()];
    assert_eq!(
        message(&broken),
        "model.safetensors: tensor `factors.0` has the shape [4, 3] where [4, 4] was expected: \
         the file is damaged, fit the model again or use an intact copy"
    );
}

fn drawn() -> [Vec<u8>; 3] {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model");
    models::drawn().model().save(&path).expect("it can be saved");
    models::files(&path)
}

#[test]
fn draws() {
    const AGAIN: &str = "the file is damaged, fit the model again or use an intact copy";
    let files = drawn();
    for count in [0, 4] {
        let mut description: Value = serde_json::from_slice(&files[0]).unwrap();
        description["summary"]["draws"] = json!(count);
        let json = serde_json::to_vec(&description).unwrap();
        assert_eq!(
            message(&[json, files[1].clone(), files[2].clone()]),
            format!("model.json: 6 columns cannot be divided among {count} draws: {AGAIN}")
        );
    }
    for (from, to, reason) in [
        ("draws.noise", "draws.voice", "tensor `draws.noise` is missing"),
        (
            "[3,7]",
            "[7,3]",
            "tensor `draws.biases.1` has the shape [7, 3] where [3, 7] was expected",
        ),
    ] {
        let broken = [files[0].clone(), with_header(&files[1], from, to), files[2].clone()];
        assert_eq!(message(&broken), format!("model.safetensors: {reason}: {AGAIN}"));
    }
    let mut negative = files.clone();
    let four = negative[1].windows(8).rposition(|part| part == 4.0f64.to_le_bytes()).unwrap();
    negative[1][four..four + 8].copy_from_slice(&(-4.0f64).to_le_bytes());
    assert_eq!(
        message(&negative),
        format!("model.safetensors: a draw has a precision that is not above zero: {AGAIN}")
    );
}

/// Writing to disk for each case would be slow.
static SOUND: LazyLock<[[Vec<u8>; 3]; 2]> = LazyLock::new(|| [sound(), drawn()]);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_make_it_panic(
        which in 0usize..2,
        file in 0usize..3,
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        keep in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut files = SOUND[which].clone();
        let bytes = &mut files[file];
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(keep) = keep {
            bytes.truncate(keep.index(bytes.len()));
        }
        if let Ok(model) = Model::from_files(&files[0], &files[1], &files[2]) {
            prop_assert!(model.predict_cell(&[0, 0, 0]).is_finite());
        }
    }

    #[test]
    fn nor_do_random_ones(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let files = SOUND[0].clone();
        prop_assert!(Model::from_files(&bytes, &files[1], &files[2]).is_err());
        prop_assert!(Model::from_files(&files[0], &bytes, &files[2]).is_err());
        prop_assert!(Model::from_files(&files[0], &files[1], &bytes).is_err());
    }
}
