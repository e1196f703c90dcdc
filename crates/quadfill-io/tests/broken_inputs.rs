//! Broken inputs and the exact sentence each one gets.

use quadfill_io::{BinSpec, Format, ReadOptions, read, read_bytes};

/// Options made from a list of `name=text`.
fn options(settings: &[&str]) -> ReadOptions {
    let mut options = ReadOptions::default();
    for setting in settings {
        let (name, text) = setting.split_once('=').expect("name=text");
        match name {
            "modes" => options.modes = Some(text.split(',').map(Into::into).collect()),
            "value" => options.value = Some(text.into()),
            "weight" => options.weight = Some(text.into()),
            "delimiter" => options.delimiter = Some(text.to_owned()),
            "header" => options.header = Some(text == "yes"),
            "variable" => options.variable = Some(text.to_owned()),
            "bins" => options.bins.push(BinSpec::parse(text).expect("valid bins")),
            other => panic!("{other} is not an option"),
        }
    }
    options
}

#[test]
fn texts_that_cannot_be_read() {
    let table: &[(&str, &[u8], &[&str], &str)] = &[
        ("a.csv", b"", &[], "a.csv: the file has no rows: give at least one row with a value"),
        (
            "a.csv",
            b"\n \n\r\n",
            &[],
            "a.csv: the file has no rows: give at least one row with a value",
        ),
        (
            "a.csv",
            b"user,film,stars\n",
            &[],
            "a.csv: there is a header but no row below it: give at least one row with a value",
        ),
        (
            "a.csv",
            b"user,film,stars\nann,Heat,4\nbob,5\n",
            &[],
            "a.csv, line 3: expected 3 fields, got 2: every row needs as many fields as the first one (separated by `,`)",
        ),
        (
            "a.dat",
            b"1::2::3::4\n\n1::3::3::4::5\n",
            &[],
            "a.dat, line 3: expected 4 fields, got 5: every row needs as many fields as the first one (separated by `::`)",
        ),
        (
            "a.csv",
            b"user,film,stars\nann,Heat,good\n",
            &[],
            "a.csv, line 2: column `stars` holds `good`, which is not a number: correct it or choose another column",
        ),
        (
            "a.csv",
            b"1,2,3\n1,3,\n",
            &[],
            "a.csv, line 2: column 3 holds ``, which is not a number: correct it or choose another column",
        ),
        (
            "a.csv",
            b"1,2,3\r\n1,3,nan\r\n",
            &[],
            "a.csv, line 2: column 3 holds `nan`: values must be finite numbers, leave out rows whose value is missing",
        ),
        (
            "a.csv",
            b"1,2,3\n1,3,1e999\n",
            &[],
            "a.csv, line 2: column 3 holds `1e999`: values must be finite numbers, leave out rows whose value is missing",
        ),
        (
            "a.csv",
            b"user,film,stars\nann,Heat,4\n",
            &["modes=user,movie"],
            "a.csv: there is no column `movie`: the columns are `user`, `film`, `stars`",
        ),
        (
            "a.csv",
            b"1,2,3\n",
            &["value=4"],
            "a.csv: there is no column `4`: the columns are 1 to 3, without names",
        ),
        (
            "a.csv",
            b"1,2,3\n",
            &["modes=1,2", "value=2"],
            "a.csv: column `2` is used twice: use each column once",
        ),
        (
            "a.csv",
            b"1,2,3\n",
            &["modes=1,2,3"],
            "a.csv: no column is left for the value: name it with `value`",
        ),
        (
            "a.csv",
            b"1,2\n",
            &[],
            "a.csv: 2 columns give 1 mode: two or more modes and a value are needed, check `delimiter` and `modes`",
        ),
        (
            "a.csv",
            b"1,2,3,4,5,6,7,8,9,10\n",
            &[],
            "a.csv: 10 columns give 9 modes: choose 2 to 8 columns with `modes`",
        ),
        (
            "a.csv",
            b"ann,Heat,4\n,Heat,5\n",
            &[],
            "a.csv, line 2: column 1 is empty: every row needs a label there",
        ),
        (
            "a.csv",
            b"ann,Heat,4\nb\xffb,Heat,5\n",
            &[],
            "a.csv, line 2: the text is not UTF-8: save the file as UTF-8",
        ),
        (
            "a.csv",
            b"\xff\xfea\x00,\x00",
            &[],
            "a.csv, line 1: the text is not UTF-8: save the file as UTF-8",
        ),
        (
            "a.csv",
            b"user,film,stars\nann,\"Heat,4\nbob,Up,5\n",
            &[],
            "a.csv, line 2: a quote opens here and is never closed: close it or double it",
        ),
        (
            "a.csv",
            b"user,film,stars\nann,\"He\nat\",4\nbob,\"Up\",five\n",
            &[],
            "a.csv, line 4: column `stars` holds `five`, which is not a number: correct it or choose another column",
        ),
        (
            "a.csv",
            b"user,film,stars,w\nann,Heat,4,-1\n",
            &["weight=w", "value=stars"],
            "a.csv, line 2: the weight is -1: weights must not be negative",
        ),
        (
            "a.csv",
            b"user,time,stars\nann,noon,4\n",
            &["bins=time=1h"],
            "a.csv, line 2: column `time` holds `noon`, which is not a time: write seconds since 1970 or a date such as 2003-05-17",
        ),
        (
            "a.csv",
            b"user,time,stars\nann,1,4\n",
            &["bins=stars=1h"],
            "a.csv: `bins` names column stars, which is not among `modes`, or is named twice: name a mode, once",
        ),
        (
            "a.csv",
            b"user,time,stars\nann,0,4\nbob,1e12,4\n",
            &["bins=time=1s"],
            "a.csv: the times from 0 to 1000000000000 fall into too many bins of 1 second: make `bins` wider",
        ),
        (
            "a.csv",
            b"1,2,3\n",
            &["delimiter="],
            "a.csv: `delimiter` is empty: give a text such as , or :: or tab",
        ),
        (
            "a.tns",
            b"# zero\n0 1 2.5\n",
            &[],
            "a.tns, line 2: index `0` in column 1: the indices of a .tns file are whole numbers that start at 1, up to 4294967295",
        ),
        (
            "a.tns",
            b"1 1 1\n1 -2 2.5\n",
            &[],
            "a.tns, line 2: index `-2` in column 2: the indices of a .tns file are whole numbers that start at 1, up to 4294967295",
        ),
        (
            "a.tns",
            b"1 1 1\n1 2\n",
            &[],
            "a.tns, line 2: expected 3 fields, got 2: every row needs as many fields as the first one (separated by blanks)",
        ),
        (
            "a.tns",
            b"# nothing\n",
            &[],
            "a.tns: the file has no rows: give at least one row with a value",
        ),
        (
            "a.xlsx",
            b"1,2,3\n",
            &[],
            "a.xlsx: `.xlsx` is not an ending that Quadfill knows: set `format` to delimited, tns, npy, npz, parquet or mat",
        ),
    ];
    for (name, bytes, settings, expected) in table {
        let error = read_bytes(name, bytes, &options(settings)).expect_err(expected);
        assert_eq!(&error.to_string(), expected);
    }
}

fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn binary_files_that_cannot_be_read() {
    let shape = |shape: &str, dtype: &str| {
        format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}")
    };
    let infinite: Vec<u8> = [1.0, f64::INFINITY].iter().flat_map(|x| x.to_le_bytes()).collect();
    let mut hdf5 = vec![0u8; 512];
    hdf5.extend(b"\x89HDF\r\n");
    let table: Vec<(&str, Vec<u8>, &str)> = vec![
        (
            "a.npy",
            vec![],
            "a.npy: this is not a valid .npy file: it does not begin as one: write or fetch the file again",
        ),
        (
            "a.npy",
            b"\x93NUMPY\x01\x00\xff".to_vec(),
            "a.npy: this is not a valid .npy file: it ends inside its header: write or fetch the file again",
        ),
        (
            "a.npy",
            b"\x93NUMPY\x09\x00\xff\xff\xff\xff\xff\xff".to_vec(),
            "a.npy: this is not a valid .npy file: its version is not 1, 2 or 3: write or fetch the file again",
        ),
        (
            "a.npy",
            npy("{'descr': '<f8'}", &[]),
            "a.npy: this is not a valid .npy file: its header lacks descr, fortran_order or shape: write or fetch the file again",
        ),
        (
            "a.npy",
            npy(&shape("(2, 2)", "<f8"), &[0; 8]),
            "a.npy: this is not a valid .npy file: its shape needs 32 bytes of numbers, there are 8: write or fetch the file again",
        ),
        (
            "a.npy",
            npy(&shape("(4294967296, 4294967296, 4294967296)", "<f8"), &[]),
            "a.npy: this is not a valid .npy file: its shape is larger than any memory: write or fetch the file again",
        ),
        (
            "a.npy",
            npy(&shape("(2, 2)", "<c16"), &[0; 64]),
            "a.npy: the dtype `<c16` is not read: save floats of 4 or 8 bytes, integers or booleans",
        ),
        (
            "a.npy",
            npy(&shape("(4,)", "<f4"), &[0; 16]),
            "a.npy: the array has 1 dimension: give one with 2 to 8",
        ),
        (
            "a.npy",
            npy(&shape("(0, 1000000000000)", "<f4"), &[]),
            "a.npy: the file has no rows: give at least one row with a value",
        ),
        (
            "a.npy",
            npy(&shape("(1, 2)", "<f8"), &infinite),
            "a.npy, cell [0, 1]: column of the array holds `inf`: values must be finite numbers, leave out rows whose value is missing",
        ),
        (
            "a.npz",
            b"PK\x03\x04 not a zip".to_vec(),
            "a.npz: the zip archive is cut short or damaged (invalid Zip archive: Could not find EOCD): fetch or pack it again",
        ),
        (
            "a.parquet",
            b"PAR1".to_vec(),
            "a.parquet: this is not a valid Parquet file: EOF: Parquet file too small. Size is 4 but need 8: write or fetch the file again",
        ),
        (
            "a.mat",
            vec![0; 128],
            "a.mat: this is not a valid MATLAB version 5 file: its header is not that of one: write or fetch the file again",
        ),
        (
            "a.mat",
            hdf5,
            "a.mat: this is a MATLAB file of version 7.3 (HDF5): save it with -v7, or as .npy",
        ),
    ];
    for (name, bytes, expected) in table {
        let error = read_bytes(name, &bytes, &ReadOptions::default()).expect_err(expected);
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn files_that_cannot_be_opened_or_unpacked() {
    let folder = tempfile::tempdir().expect("a folder");
    let packed = {
        use std::io::Write;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"1,2,3\n1,3,4\n").expect("memory");
        gzip.finish().expect("memory")
    };
    let zstd = zstd::encode_all(&b"1,2,3\n1,3,4\n"[..], 1).expect("memory");
    for (name, bytes, kind) in [
        ("cut.csv.gz", &packed[..packed.len() - 6], "gzip"),
        ("cut.tns.zst", &zstd[..zstd.len() - 3], "zstd"),
        ("empty.csv.gz", &[][..], "gzip"),
        ("plain.csv.gz", &b"1,2,3\n"[..], "gzip"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        let error = read(&path, &ReadOptions::default()).expect_err(name).to_string();
        let expected = format!("{}: the {kind} archive is cut short or damaged (", path.display());
        assert!(error.starts_with(&expected), "{error}");
        assert!(error.ends_with("): fetch or pack it again"), "{error}");
    }
    let missing = folder.path().join("missing.csv");
    let error = read(&missing, &ReadOptions::default()).expect_err("missing");
    assert_eq!(
        error.to_string(),
        format!("{}: No such file or directory (os error 2)", missing.display())
    );
    let options = ReadOptions { format: Some(Format::Delimited), ..ReadOptions::default() };
    let error = read(folder.path(), &options).expect_err("a folder");
    assert_eq!(
        error.to_string(),
        format!("{}: this is a folder: name a file", folder.path().display())
    );
}

#[test]
fn invalid_bins() {
    let advice =
        "write COLUMN=WIDTH with a unit s, m, h, d or w, COLUMN=COUNT, COLUMN=auto or COLUMN=none";
    for (text, why) in [
        ("timestamp", "there is no `=`"),
        ("=20w", "there is no column"),
        ("t=20y", "the unit is not known"),
        ("t=", "the unit is not known"),
        ("t=w", "the width is not a number"),
        ("t=-1d", "the width must be above zero"),
        ("t=0", "there must be at least one bin"),
        ("t=1.5", "the count is not a whole number"),
    ] {
        let error = BinSpec::parse(text).expect_err(text);
        assert_eq!(error.to_string(), format!("`bins` is {text}: {why}: {advice}"));
    }
}
