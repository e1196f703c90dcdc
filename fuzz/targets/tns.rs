#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    quadfill_fuzz::read_anything(quadfill_io::Format::Tns, bytes);
});
