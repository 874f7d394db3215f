//! Reader for stored results: schemas 1 and 2, by file or by folder, and the text of OTP's own
//! benchmark. Both may be compressed with gzip. The format is recognised by its content.
//!
//! Comparisons and exports take parsed figures ([`read_figures`]); the page takes the file, with
//! ratios and control computed anew ([`read_judged`]), so that all give the same verdicts. Input is
//! not trusted: a missing or malformed field is reported with its position.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use serde_json::{Value, json};

use crate::contender::sources;
use crate::error::Problem;
use crate::otp_text;
use crate::results::{ResultEntry, SCHEMA, control, ratios};
use crate::store::RESULTS;

pub use crate::results::Figures;

/// First bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Maximum size of results, decompressed; those of a full run have a few MB.
const MAX_BYTES: u64 = 1 << 28;

/// Returns the results file a path refers to: the path itself, or the file in that folder, which may
/// be compressed.
pub fn results_file(path: &Path) -> PathBuf {
    if !path.is_dir() {
        return path.to_path_buf();
    }
    let (plain, compressed) = (path.join(RESULTS), path.join(format!("{RESULTS}.gz")));
    if !plain.exists() && compressed.exists() { compressed } else { plain }
}

/// Reads the results in a file.
///
/// # Errors
///
/// Returns one line if the file cannot be read, is neither JSON nor OTP's text, or holds no results
/// of a known schema.
pub fn read(file: &Path) -> Result<Value, Problem> {
    checked(&text(file)?, file)
}

/// Reads the results in a file, with ratios, control and source files as this version computes them.
///
/// A file whose figures are damaged has none of these.
///
/// # Errors
///
/// As [`read`].
pub fn read_judged(file: &Path) -> Result<Value, Problem> {
    let text = text(file)?;
    let mut results = checked(&text, file)?;
    let Some(document) = results.as_object_mut() else { return Ok(results) };
    document.remove("ratios");
    document.remove("control");
    if let Ok(mut figures) = figures(&text, file) {
        for contender in &mut figures.contenders {
            let own = figures.results.iter().filter(|result| result.contender == contender.id);
            contender.sources = sources(&contender.id, own.map(|result| &*result.experiment));
        }
        document.insert("ratios".into(), json!(ratios(&figures.results)));
        document.insert("control".into(), json!(control(&figures.results)));
        document.insert("contenders".into(), json!(figures.contenders));
    }
    Ok(results)
}

/// Reads the results in a file as JSON; those of a run are returned byte for byte.
///
/// # Errors
///
/// As [`read`].
pub fn read_json(file: &Path) -> Result<String, Problem> {
    let text = text(file)?;
    let results = checked(&text, file)?;
    Ok(if otp_text::is_text(&text) { format!("{results:#}\n") } else { text })
}

/// Reads the figures in a file.
///
/// # Errors
///
/// As [`read`]; also if a field that a comparison needs is missing or of the wrong type, or a
/// figure has no samples or not one ascending round for each.
pub fn read_figures(file: &Path) -> Result<Figures, Problem> {
    figures(&text(file)?, file)
}

/// Parses the figures in a text; `file` is named in errors.
///
/// # Errors
///
/// As [`read_figures`].
pub fn figures(text: &str, file: &Path) -> Result<Figures, Problem> {
    let results = checked(text, file)?;
    let wrong = |what: String| {
        let hint = "give the file as purlin lab run wrote it";
        Problem::new(format!("{} is not as its schema says: {what}; {hint}", file.display()))
    };
    let first_schema = results["schema"] == 1;
    let invalid = invalid_samples(&results);
    // WHY: parsing the text directly gives errors with line numbers.
    let figures = if otp_text::is_text(text) {
        serde_json::from_value(results)
    } else {
        serde_json::from_str(text)
    };
    let mut figures: Figures = figures.map_err(|error| wrong(error.to_string()))?;
    if first_schema {
        number_rounds(&mut figures.results, &invalid);
    }
    let fault = figures.results.iter().find_map(|one| Some((one, fault(one, first_schema)?)));
    match fault {
        Some((ResultEntry { experiment, contender, metric, .. }, what)) => {
            Err(wrong(format!("{experiment} {contender}, {metric}, has {what}")))
        }
        None => Ok(figures),
    }
}

/// Returns what is wrong with the samples of a figure; `None` if nothing is.
fn fault(figure: &ResultEntry, first_schema: bool) -> Option<&'static str> {
    let ascending = figure.rounds.is_sorted_by(|one, next| one < next);
    if figure.samples.is_empty() {
        Some("no samples")
    } else if first_schema && figure.rounds.is_empty() {
        None
    } else if figure.rounds.len() != figure.samples.len() || !ascending {
        Some("not one round for each sample, in ascending order")
    } else {
        None
    }
}

/// Numbers the rounds of figures of schema 1, which stored none.
///
/// A figure keeps no rounds, and so has no ratio, if it may lack one: its contender has invalid
/// samples in the experiment, or it has fewer samples than another figure of the experiment.
fn number_rounds(figures: &mut [ResultEntry], invalid: &BTreeSet<(String, String)>) {
    let mut most: BTreeMap<String, usize> = BTreeMap::new();
    for figure in figures.iter() {
        let rounds = most.entry(figure.experiment.clone()).or_default();
        *rounds = figure.samples.len().max(*rounds);
    }
    for figure in figures {
        let lacks = invalid.contains(&(figure.experiment.clone(), figure.contender.clone()));
        let whole = most.get(&figure.experiment) == Some(&figure.samples.len()) && !lacks;
        figure.rounds = if whole { (1..=figure.samples.len()).collect() } else { Vec::new() };
    }
}

/// Returns experiment and contender of each invalid sample.
fn invalid_samples(results: &Value) -> BTreeSet<(String, String)> {
    let invalid = results["void"].as_array().map_or(&[][..], Vec::as_slice);
    let text = |one: &Value, name: &str| one[name].as_str().unwrap_or_default().to_owned();
    invalid.iter().map(|one| (text(one, "experiment"), text(one, "contender"))).collect()
}

fn text(file: &Path) -> Result<String, Problem> {
    let text = File::open(file).and_then(|opened| {
        let mut bytes = BufReader::new(opened);
        if bytes.fill_buf()?.starts_with(&GZIP) {
            bounded(MultiGzDecoder::new(bytes))
        } else {
            bounded(bytes)
        }
    });
    text.map_err(|error| {
        let hint = "give a results.json or the folder of a run that came to its end";
        Problem::new(format!("cannot read {}: {error}; {hint}", file.display()))
    })
}

/// Reads at most [`MAX_BYTES`].
fn bounded(bytes: impl Read) -> io::Result<String> {
    let mut text = String::new();
    bytes.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it is larger than {MAX_BYTES} bytes")));
    }
    Ok(text)
}

fn checked(text: &str, file: &Path) -> Result<Value, Problem> {
    if otp_text::is_text(text) {
        let named = |problem| Problem::new(format!("{}, {problem}", file.display()));
        return otp_text::read(text).map_err(named);
    }
    let value: Value = serde_json::from_str(text).map_err(|error| {
        Problem::new(format!(
            "{} is no JSON: {error}; give a results.json of purlin lab run, or the text of OTP's \
             parallel_messages_SUITE",
            file.display()
        ))
    })?;
    match value.get("schema") {
        Some(schema) if *schema == 1 || *schema == SCHEMA => Ok(value),
        Some(Value::Number(schema)) => Err(Problem::new(format!(
            "{} has schema {schema}, and this purlin reads schemas 1 to {SCHEMA}; use the purlin that wrote it",
            file.display()
        ))),
        _ => Err(Problem::new(format!(
            "{} holds no results of purlin lab run (its \"schema\" is no number); give a results.json",
            file.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn file_without_results_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.json");
        for (text, reason) in [
            (&b"{"[..], "is no JSON"),
            (&b"{}"[..], "holds no results"),
            (&b"[1]"[..], "holds no results"),
            (&br#"{"schema":3}"#[..], "schema 3"),
            (&br#"{"schema":"1"}"#[..], "holds no results"),
            (&b"\xff"[..], "cannot read"),
        ] {
            fs::write(&file, text).unwrap();
            for refused in [read(&file).unwrap_err(), read_figures(&file).unwrap_err()] {
                let refused = refused.to_string();
                assert!(refused.contains("x.json") && refused.contains(reason), "{refused}");
            }
        }
        assert!(read(&folder.path().join("none")).unwrap_err().to_string().contains("cannot read"));
    }

    #[test]
    fn compressed_results_are_read_by_file_and_by_folder() {
        let folder = tempfile::tempdir().unwrap();
        let example = "../../docs/lab/compare/before.json";
        let text = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(example)).unwrap();
        let file = folder.path().join("results.json.gz");
        let mut encoder = GzEncoder::new(fs::File::create(&file).unwrap(), Compression::fast());
        encoder.write_all(&text).unwrap();
        encoder.finish().unwrap();
        assert_eq!(results_file(folder.path()), file);
        assert_eq!(read_json(&file).unwrap().as_bytes(), text);
        let compressed = fs::read(&file).unwrap();
        fs::write(&file, &compressed[..compressed.len() / 2]).unwrap();
        let refused = read(&file).unwrap_err().to_string();
        assert!(refused.contains("cannot read") && refused.lines().count() == 1, "{refused}");
        fs::write(folder.path().join(RESULTS), text).unwrap();
        assert_eq!(results_file(folder.path()), folder.path().join(RESULTS));
    }

    #[test]
    fn decompressed_size_is_bounded() {
        let refused = bounded(io::repeat(b'1')).unwrap_err().to_string();
        assert_eq!(refused, "it is larger than 268435456 bytes");
    }

    #[test]
    fn incomplete_figures_are_refused_with_the_missing_field() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.json");
        let host = r#"{"os":"","kernel":"","cpu":"","cores":1,"memory_bytes":1,"load_before":0,"virtual":null}"#;
        let with = |results: &str| {
            format!(
                r#"{{"schema":1,"started":"","profile":"quick","host":{host},"contenders":[],"results":[{results}]}}"#
            )
        };
        let result = r#"{"experiment":"call","contender":"a","params":{},"metric":"time","unit":"ns",
            "better":"lower","samples":SAMPLES,"median":1,"low":1,"high":1,"principal":true}"#;
        let later = |samples: &str| {
            with(&result.replace("SAMPLES", samples)).replace(r#""schema":1"#, r#""schema":2"#)
        };
        for (text, reason) in [
            (r#"{"schema":1}"#.to_owned(), "missing field `started`"),
            (with("{}"), "missing field `experiment` at line 1"),
            (with(&result.replace("SAMPLES", "[]")), "call a, time, has no samples"),
            (with(&result.replace("SAMPLES", "[null]")), "invalid type: null"),
            (later(r#"[1, 2], "rounds": [1]"#), "call a, time, has not one round for each sample"),
            (later(r#"[1, 2], "rounds": [2, 2]"#), "has not one round for each sample"),
            (later("[1, 2]"), "has not one round for each sample"),
        ] {
            fs::write(&file, text).unwrap();
            let refused = read_figures(&file).unwrap_err().to_string();
            assert!(refused.contains("x.json") && refused.contains(reason), "{refused}");
        }
        fs::write(&file, with(&result.replace("SAMPLES", "[1]"))).unwrap();
        assert_eq!(read_figures(&file).unwrap().results.len(), 1);
    }

    proptest! {
        #[test]
        fn damaged_file_is_read_or_refused_in_one_line(
            place in any::<prop::sample::Index>(), byte: u8, kept in any::<prop::sample::Index>()
        ) {
            let example = "../../docs/lab/compare/before.json";
            let mut text = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(example)).unwrap();
            let length = text.len();
            text[place.index(length)] = byte;
            // Half of the files are truncated as well.
            text.truncate(if byte % 2 == 0 { length } else { kept.index(length) });
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("x.json");
            fs::write(&file, text).unwrap();
            if let Err(refused) = read_figures(&file) {
                let refused = refused.to_string();
                prop_assert!(refused.contains("x.json") && refused.lines().count() == 1, "{refused}");
            }
        }
    }
}
