//! Writes small valid files of every format into `FOLDER/TARGET`, for the fuzzer to start from.
//!
//! ```text
//! cargo run -p quadfill-io --example fuzz_seeds -- FOLDER
//! ```

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use quadfill::{Labels, Mode};
use quadfill_io::{
    Predictions, QueryValues, ReadOptions, read_query_bytes, write_npy, write_predictions,
};

type Result = std::result::Result<(), Box<dyn std::error::Error>>;

fn main() -> Result {
    let corpus = PathBuf::from(std::env::args_os().nth(1).ok_or("name a folder")?);
    let folder = |target: &str| -> std::io::Result<PathBuf> {
        let folder = corpus.join(target);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    };
    let texts = folder("delimited")?;
    fs::write(texts.join("comma"), "user,film,time,stars\n1,Heat,3,4.5\n2,\"Up, up\",14,-1e-3\n")?;
    fs::write(texts.join("colons"), "1::122::5::838985046\r\n\r\n1::185::5::838983525\r\n")?;
    fs::write(texts.join("blanks"), "0 Up 5 1\n2  Heat 15 2.25\n")?;
    fs::write(texts.join("quotes"), "a;b;c\n\"x\"\"y\";\"two\nlines\";1\n")?;
    fs::write(folder("tns")?.join("plain"), "# a comment\n1 1 1 0.5\n2 1 3 -1.5e2\n% end\n")?;

    let arrays = folder("npy")?;
    write_npy(&arrays.join("f4"), &[2, 3, 2], (0..12u8).map(f32::from))?;
    write_npy(&arrays.join("f8"), &[2, 2], [1.0, f64::NAN, 2.0, 3.0])?;
    write_npy(&arrays.join("i8"), &[3, 2], [1i64, 2, 3, 4, 5, 6])?;
    let mut fortran = fs::read(arrays.join("f8"))?;
    if let Some(at) = fortran.windows(5).position(|text| text == b"False") {
        fortran[at..at + 5].copy_from_slice(b"True ");
    }
    fs::write(arrays.join("fortran"), fortran)?;

    let scratch = corpus.join("scratch.npy");
    let archives = folder("npz")?;
    for (name, packed) in [("packed", true), ("stored", false)] {
        let mut zip = zip::ZipWriter::new(fs::File::create(archives.join(name))?);
        let method =
            if packed { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        let mut add = |member: &str| -> Result {
            zip.start_file(member, options)?;
            zip.write_all(&fs::read(&scratch)?)?;
            Ok(())
        };
        if packed {
            write_npy(&scratch, &[3, 2], [0i64, 0, 1, 1, 2, 0])?;
            add("indices.npy")?;
            write_npy(&scratch, &[3], [0.5, 1.5, 2.5])?;
            add("values.npy")?;
            write_npy(&scratch, &[2], [4i64, 4])?;
            add("shape.npy")?;
        } else {
            write_npy(&scratch, &[2, 2], [0.5, 1.5, 2.5, 3.5])?;
            add("arr_0.npy")?;
            write_npy(&scratch, &[2, 2], [1u32, 0, 1, 1])?;
            add("mask.npy")?;
        }
        zip.finish()?;
    }
    fs::remove_file(&scratch)?;

    let modes = [Mode::new("user", Labels::range(3)), Mode::new("film", Labels::range(3))];
    let text = b"user,film,note,time\n0,1,x,3\n1,2,y,14\n2,2,x,1.5\n".to_vec();
    let options = ReadOptions::default();
    let query = read_query_bytes("q.csv", text, &options, &modes, QueryValues::Ignored)?;
    let predictions =
        Predictions { values: &[0.5, 1.5, 2.5], half_widths: None, mark_unknown: false };
    let table = folder("parquet")?.join("table.parquet");
    write_predictions(&table, &query, predictions)?;

    let matlab = folder("mat")?;
    fs::write(matlab.join("plain"), mat_file(false)?)?;
    fs::write(matlab.join("packed"), mat_file(true)?)?;
    Ok(())
}

/// A MATLAB file with one 2 x 3 array of doubles named `A`.
fn mat_file(packed: bool) -> std::io::Result<Vec<u8>> {
    let tagged = |kind: u32, data: &[u8]| {
        let mut element = [kind.to_le_bytes(), (data.len() as u32).to_le_bytes()].concat();
        element.extend(data);
        element.resize(element.len().next_multiple_of(8), 0);
        element
    };
    let words =
        |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let numbers: Vec<u8> = (0..6u8).flat_map(|number| f64::from(number).to_le_bytes()).collect();
    let parts = [
        tagged(6, &words(&[6, 0])),
        tagged(5, &words(&[2, 3])),
        tagged(1, b"A"),
        tagged(9, &numbers),
    ];
    let mut matrix = tagged(14, &parts.concat());
    if packed {
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(&matrix)?;
        let zlib = zlib.finish()?;
        matrix = [15u32.to_le_bytes(), (zlib.len() as u32).to_le_bytes()].concat();
        matrix.extend(zlib);
    }
    let mut file = b"MATLAB 5.0 MAT-file, made for fuzzing".to_vec();
    file.resize(124, b' ');
    file.extend([0, 1, b'I', b'M']);
    file.extend(matrix);
    Ok(file)
}
