//! Packs the charting library that the report page embeds, embeds the contenders' source files, and
//! lists the source files of all contenders of the repository.
//!
//! Apache ECharts is not in the repository; the package `charming` ships it. The script asks `cargo
//! metadata` where Cargo unpacked that package and packs the one file into `OUT_DIR`, where `page`
//! includes it. It downloads nothing that the build has not named.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

#[path = "src/page/packed.rs"]
mod packed;

const PACKAGE: &str = "charming";
/// The version in `Cargo.toml`.
const VERSION: &str = "0.6.0";
/// Folder of the sources that both contenders on the JVM share, with a subfolder for each.
const JVM: &str = "jvm/src/main/java/contender";
const ASSET: &str = "src/asset/echarts-5.5.1.min.js";

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/page/packed.rs");
    match pack_library().and_then(|()| embed_contenders()).and_then(|()| list_programs()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            println!("cargo::error=the lab lacks a file that it embeds: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn pack_library() -> Result<(), Box<dyn Error>> {
    let asset = package_folder()?.join(ASSET);
    println!("cargo::rerun-if-changed={}", asset.display());
    let target = PathBuf::from(env::var("OUT_DIR")?).join("echarts.min.js.gz.base64");
    let library = fs::read(&asset).map_err(|problem| {
        format!("{} cannot be read ({problem}); is {PACKAGE} {VERSION} in use?", asset.display())
    })?;
    fs::write(target, packed::packed(&library))?;
    Ok(())
}

/// Writes a constant for each contender whose source the lab compiles: names and contents of its
/// files, which `contender::sources` includes.
fn embed_contenders() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("contenders");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut code = String::new();
    // WHY two of the BEAM's: Elixir's contender shares its request parser.
    let shared = ["beam/mini_json.erl", "beam/params.erl"];
    let (pekko, threads) = (format!("{JVM}/pekko"), format!("{JVM}/threads"));
    for (name, folders, more) in [
        ("BEAM", &["beam"][..], &[][..]),
        ("ELIXIR", &["elixir"], &shared),
        ("GO", &["go"], &[]),
        ("PEKKO", &[JVM, &pekko], &["jvm/pom.xml"]),
        ("VIRTUAL_THREADS", &[JVM, &threads], &[]),
    ] {
        let mut files: Vec<PathBuf> = more.iter().map(|file| folder.join(file)).collect();
        for own in folders {
            for file in fs::read_dir(folder.join(own))? {
                let file = file?.path();
                let ending = file.extension().and_then(|ending| ending.to_str());
                if ending.is_some_and(|ending| ["erl", "ex", "go", "java", "mod"].contains(&ending))
                {
                    files.push(file);
                }
            }
        }
        files.sort();
        let entry = |file: &PathBuf| {
            format!("({:?}, include_str!({file:?})),", file.file_name().unwrap_or_default())
        };
        let entries: String = files.iter().map(entry).collect();
        code += &format!("pub(super) const {name}: &[(&str, &str)] = &[{entries}];\n");
    }
    Ok(fs::write(PathBuf::from(env::var("OUT_DIR")?).join("contenders.rs"), code)?)
}

/// Writes the table of the repository's contenders, which `contender::programs` includes: id,
/// whether its source calls the function of the control, and its source files.
///
/// A package holds only the contenders that it embeds.
fn list_programs() -> Result<(), Box<dyn Error>> {
    let own = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let repository = own.join("../../contenders");
    let folder = if repository.is_dir() { repository } else { own.join("contenders") };
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut programs = vec![
        ("pekko".to_owned(), folder.join(JVM).join("pekko")),
        ("virtual-threads".to_owned(), folder.join(JVM).join("threads")),
    ];
    for entry in fs::read_dir(&folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() && name != "jvm" {
            programs.push((name, entry.path()));
        }
    }
    programs.sort();
    let mut code = "pub(super) const PROGRAMS: &[Program] = &[\n".to_owned();
    for (id, program) in &programs {
        let mut files = Vec::new();
        source_files(program, &mut files)?;
        files.sort();
        let mut calls = false;
        for file in &files {
            let rust = file.extension().is_some_and(|ending| ending == "rs");
            calls |= rust && fs::read_to_string(file)?.contains("tail_call(");
        }
        let names: Vec<String> = files
            .iter()
            .filter_map(|file| Some(file.strip_prefix(&folder).ok()?.to_str()?.replace('\\', "/")))
            .collect();
        code += &format!("    Program {{ id: {id:?}, control: {calls}, files: &{names:?} }},\n");
    }
    code += "];\n";
    Ok(fs::write(PathBuf::from(env::var("OUT_DIR")?).join("programs.rs"), code)?)
}

/// Appends the source files below a folder, without those of tests and examples.
fn source_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if path.is_dir() && !["tests", "test", "examples", "target"].contains(&name) {
            source_files(&path, files)?;
        } else if ["rs", "erl", "ex", "go", "java", "scala"].contains(&ending) {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns the folder into which Cargo unpacked the package.
///
/// WHY: a build script cannot ask its dependencies for their files. In a build, all packages of the
/// host are already unpacked, so `--offline` suffices. A folder without a lock file, as in an
/// installation, may need the second attempt.
fn package_folder() -> Result<PathBuf, Box<dyn Error>> {
    let manifest = manifest()?;
    let metadata = metadata(&manifest, true).or_else(|_| metadata(&manifest, false))?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let manifest = packages
        .iter()
        .find(|package| package["name"] == PACKAGE)
        .and_then(|package| package["manifest_path"].as_str())
        .ok_or_else(|| format!("cargo metadata does not list {PACKAGE}"))?;
    Ok(PathBuf::from(manifest).with_file_name(""))
}

/// Writes the manifest of a package that depends only on the library, in the versions in use.
///
/// WHY not the manifest of this crate: when `cargo package` builds it, its other dependencies may
/// not be published yet, and none of them is needed here.
fn manifest() -> Result<PathBuf, Box<dyn Error>> {
    let folder = PathBuf::from(env::var("OUT_DIR")?).join("library");
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("src/lib.rs"), "")?;
    let this = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    if let Some(lock) = this.ancestors().map(|up| up.join("Cargo.lock")).find(|lock| lock.exists())
    {
        fs::copy(lock, folder.join("Cargo.lock"))?;
    }
    let manifest = folder.join("Cargo.toml");
    let text = format!(
        "[package]\nname = \"library\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\n{PACKAGE} = {{ version = \"={VERSION}\", default-features = false }}\n"
    );
    fs::write(&manifest, text)?;
    Ok(manifest)
}

fn metadata(manifest: &Path, offline: bool) -> Result<serde_json::Value, Box<dyn Error>> {
    let mut command = Command::new(env::var_os("CARGO").ok_or("CARGO is not set")?);
    command.args(["metadata", "--format-version", "1", "--filter-platform"]);
    command.arg(env::var("HOST")?).arg("--manifest-path").arg(manifest);
    if offline {
        command.arg("--offline");
    }
    let output = command.output()?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        let line =
            words.lines().find(|line| line.starts_with("error")).unwrap_or("cargo metadata failed");
        return Err(line.into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
