//! Contenders whose source is embedded in the lab and compiled on demand.
//!
//! Compiled files are cached in a folder named after a hash of the source and the tools. A change
//! of either recompiles, and concurrent runs never see each other's partial output.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, process};

use super::answer::one_line;
use crate::error::Problem;

// The files of each contender, embedded by `build.rs`.
include!(concat!(env!("OUT_DIR"), "/contenders.rs"));

/// The source of a contender.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sources {
    /// The contender's id.
    pub id: &'static str,
    /// File names and contents.
    pub files: &'static [(&'static str, &'static str)],
}

impl Sources {
    /// Returns the folder of the compiled contender; compiles it unless it is cached.
    ///
    /// `tools` are the programs it is compiled and run with. `compile` receives a folder that holds
    /// the source and must place the output there.
    ///
    /// Fails if the folder cannot be written or `compile` fails.
    pub(super) fn compiled(
        &self,
        tools: &[&Path],
        cache: &Path,
        compile: impl FnOnce(&Path) -> Result<(), Problem>,
    ) -> Result<PathBuf, Problem> {
        let name = format!("{}-{:016x}", self.id, self.identity(tools));
        let folder = cache.join(&name);
        if folder.is_dir() {
            return Ok(folder);
        }
        let own = cache.join(format!("{name}.{}", process::id()));
        let outcome = self.write(&own).and_then(|()| compile(&own)).and_then(|()| {
            // Another run may have finished first; its folder is equivalent.
            if fs::rename(&own, &folder).is_ok() || folder.is_dir() {
                Ok(folder.clone())
            } else {
                Err(self.unwritable(&folder, "it cannot be put in place"))
            }
        });
        let _ = fs::remove_dir_all(&own);
        outcome
    }

    /// Runs a compiler. The error contains the first line of its output.
    pub(super) fn run(&self, compiler: &mut Command) -> Result<(), Problem> {
        let program = Path::new(compiler.get_program()).display().to_string();
        let output = compiler.output().map_err(|error| {
            Problem::new(format!("{}: cannot start {program}: {error}", self.id))
        })?;
        if output.status.success() {
            return Ok(());
        }
        let output_text = [output.stdout, output.stderr].concat();
        let output_text = String::from_utf8_lossy(&output_text);
        // WHY: Go prints the package's name, after `# `, before the error.
        let mut lines = output_text.lines().filter(|line| !line.starts_with("# "));
        let first = one_line(lines.next().unwrap_or("it says nothing"));
        Err(Problem::new(format!("{}: {program} cannot compile the contender: {first}", self.id)))
    }

    fn write(&self, folder: &Path) -> Result<(), Problem> {
        fs::create_dir_all(folder).map_err(|error| self.unwritable(folder, &error.to_string()))?;
        for (name, source) in self.files {
            let file = folder.join(name);
            fs::write(&file, source).map_err(|error| self.unwritable(&file, &error.to_string()))?;
        }
        Ok(())
    }

    /// Returns a hash of this source and these tools.
    fn identity(&self, tools: &[&Path]) -> u64 {
        let mut hash = DefaultHasher::new();
        self.files.hash(&mut hash);
        for tool in tools {
            let tool = tool.canonicalize().unwrap_or_else(|_| tool.into());
            if let Ok(file) = tool.metadata() {
                (file.len(), file.modified().ok()).hash(&mut hash);
            }
            tool.hash(&mut hash);
        }
        hash.finish()
    }

    fn unwritable(&self, path: &Path, why: &str) -> Problem {
        Problem::new(format!(
            "{}: cannot write {}: {why}; make it writable or set XDG_CACHE_HOME",
            self.id,
            path.display()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_file_is_embedded() {
        for (folder, files) in [("beam", BEAM), ("elixir", ELIXIR), ("go", GO)] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("contenders").join(folder);
            // A folder within holds programs that are not part of the contender.
            let files_of = fs::read_dir(folder).unwrap().map(Result::unwrap);
            for file in files_of.filter(|file| file.path().is_file()) {
                let name = file.file_name();
                assert!(files.iter().any(|(known, _)| name == **known), "{name:?}");
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn compiler_failure_is_one_line_and_leaves_no_files() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let compiler = folder.path().join("compiler");
        fs::write(&compiler, "#!/bin/sh\necho '# it'\necho 'a:1: wrong'\necho more\nexit 1\n")
            .unwrap();
        fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
        let cache = folder.path().join("cache");
        let sources = Sources { id: "mine", files: &[("a", "text")] };
        let compile = |_: &Path| sources.run(&mut Command::new(&compiler));
        let refused = sources.compiled(&[&compiler], &cache, compile).unwrap_err().to_string();
        assert!(refused.starts_with("mine: "), "{refused}");
        assert!(refused.ends_with("cannot compile the contender: a:1: wrong"), "{refused}");
        assert_eq!(fs::read_dir(cache).unwrap().count(), 0);
    }

    #[test]
    fn compiled_contender_is_cached_until_a_tool_changes() {
        let folder = tempfile::tempdir().unwrap();
        let tool = folder.path().join("tool");
        fs::write(&tool, "one").unwrap();
        let cache = folder.path().join("cache");
        let sources = Sources { id: "mine", files: &[("a", "text")] };
        let first = sources.compiled(&[&tool], &cache, |_| Ok(())).unwrap();
        assert_eq!(fs::read_to_string(first.join("a")).unwrap(), "text");
        let again = |_: &Path| -> Result<(), Problem> { panic!("it was compiled before") };
        assert_eq!(sources.compiled(&[&tool], &cache, again).unwrap(), first);
        fs::write(&tool, "another").unwrap();
        assert_ne!(sources.compiled(&[&tool], &cache, |_| Ok(())).unwrap(), first);
    }
}
