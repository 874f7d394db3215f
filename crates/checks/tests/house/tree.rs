//! Files of the tree, and queries that the rules share.

use std::fs;
use std::path::{Path, PathBuf};

/// Directories with third-party files.
const THIRD_PARTY: [&str; 2] = ["vendor", "third_party"];
const SOURCE_ENDINGS: [&str; 15] =
    ["rs", "erl", "hrl", "ex", "exs", "go", "java", "js", "mjs", "ts", "css", "py", "sh", "c", "h"];

/// One file. `text` is empty if the file is not UTF-8.
pub(crate) struct File {
    /// Path relative to the root, with `/` as the separator.
    pub(crate) path: String,
    pub(crate) bytes: u64,
    pub(crate) text: String,
}

/// All files below a root, without symbolic links and paths listed in its `.gitignore`.
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    pub(crate) files: Vec<File>,
}

impl Tree {
    /// Reads all files. A file that vanishes meanwhile is omitted.
    pub(crate) fn read(root: &Path) -> Self {
        let root = root.canonicalize().expect("the root of the tree exists");
        let mut skipped = vec![".git".to_string()];
        if let Ok(ignored) = fs::read_to_string(root.join(".gitignore")) {
            skipped.extend(ignored.lines().map(|line| line.trim_matches('/').to_string()));
        }
        let mut files = Vec::new();
        collect(&root, &root, &skipped, &mut files);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { root, files }
    }

    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    pub(crate) fn with_ending<'a>(&'a self, ending: &'a str) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |file| file.ending() == ending)
    }
}

fn collect(root: &Path, directory: &Path, skipped: &[String], files: &mut Vec<File>) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        // WHY: a package links to files of the workspace; they are read at their real path.
        if skipped.contains(&name) || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            collect(root, &path, skipped, files);
        } else if let Ok(content) = fs::read(&path) {
            let inside =
                path.strip_prefix(root).expect("what was found under the root is under it");
            files.push(File {
                path: inside.to_string_lossy().replace('\\', "/"),
                bytes: content.len() as u64,
                text: String::from_utf8(content).unwrap_or_default(),
            });
        }
    }
}

impl File {
    pub(crate) fn ending(&self) -> &str {
        self.path.rsplit_once('.').map_or("", |(_, ending)| ending)
    }

    /// Returns whether the file is our own code in a compiled or interpreted language.
    pub(crate) fn is_source(&self) -> bool {
        let script = self.text.starts_with("#!") && self.ending() != "rs";
        (script || SOURCE_ENDINGS.contains(&self.ending())) && !self.is_third_party()
    }

    pub(crate) fn is_third_party(&self) -> bool {
        self.path.split('/').any(|part| THIRD_PARTY.contains(&part))
    }

    /// Returns whether the file is in a directory, or is a module file, that contains only tests.
    pub(crate) fn is_test(&self) -> bool {
        self.path.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "benches" | "fuzz"))
    }

    /// Returns the lines with their numbers, counted from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(i, line)| (i + 1, line))
    }

    /// Returns the lines of tests: all lines of a test file; in a source file the lines from the
    /// module marked `#[cfg(test)]` on, which is last by convention.
    pub(crate) fn test_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut marked = false;
        let mut inside = self.is_test();
        self.lines().filter(move |(_, line)| {
            let line = line.trim();
            inside |= marked && line.starts_with("mod ") && line.ends_with('{');
            marked = line.starts_with("#[cfg(test)]")
                || line.starts_with("#[cfg(all(test")
                || (marked && line.starts_with("#["));
            inside
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    #[test]
    fn ignored_directories_are_not_read_and_hidden_ones_are() {
        let tree = Fixture::new("tree-ignored")
            .file(".gitignore", "/target/\nnode_modules/\n")
            .file("target/a.rs", "")
            .file("web/node_modules/b.js", "")
            .file(".ci/run", "#!/bin/sh\n")
            .tree();
        let paths: Vec<&str> = tree.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, [".ci/run", ".gitignore"]);
        assert!(tree.files[0].is_source());
    }

    #[test]
    fn test_lines_begin_at_the_test_module_of_a_source_file() {
        let text = "fn a() {}\n#[cfg(test)]\nuse b;\n#[cfg(test)]\nmod tests {\n    fn c() {}\n}\n";
        let tree = Fixture::new("tree-test-lines").file("src/lib.rs", text).tree();
        let first = tree.files[0].test_lines().next().expect("there are test lines");
        assert_eq!(first, (5, "mod tests {"));
    }
}
