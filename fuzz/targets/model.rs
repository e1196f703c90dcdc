//! Model files: description, labels and tensors, with a byte sequence between them that no text has.
#![no_main]

use libfuzzer_sys::fuzz_target;

const BETWEEN: &[u8] = b"\xff\xfe\xfd";

fn cut(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.windows(BETWEEN.len()).position(|window| window == BETWEEN)?;
    Some((&bytes[..at], &bytes[at + BETWEEN.len()..]))
}

fuzz_target!(|bytes: &[u8]| {
    let Some((json, rest)) = cut(bytes) else { return };
    let Some((labels, tensors)) = cut(rest) else { return };
    if let Ok(model) = quadfill::Model::from_files(json, tensors, labels) {
        let cell = vec![0; model.modes().len()];
        if model.modes().iter().all(|mode| !mode.labels.is_empty()) {
            let _ = model.predict_cell(&cell);
        }
    }
    let _ = quadfill::Model::from_bytes(bytes);
});
