//! Tests of `purlin completions` and `purlin man`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::{line, purlin};

const README: &str = include_str!("../../README.md");

fn run(folder: &Path, words: &[&str]) -> Output {
    purlin(folder).args(words).output().expect("purlin runs")
}

/// Returns what the command prints on success.
fn printed(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("it is text")
}

#[cfg(unix)]
#[test]
fn bash_completes_subcommands_options_and_values() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("purlin.bash"),
        printed(&run(folder.path(), &["completions", "bash"])),
    )
    .unwrap();
    let completions = |words: &[&str]| {
        let script = "source ./purlin.bash; COMP_WORDS=(purlin \"$@\"); COMP_CWORD=$#; \
                      _purlin purlin \"${@: -1}\" \"${COMP_WORDS[-2]}\"; echo \"${COMPREPLY[@]}\"";
        let mut bash = Command::new("bash");
        bash.current_dir(&folder).args(["--norc", "-c", script, "bash"]).args(words);
        printed(&bash.output().expect("there is a bash"))
    };
    assert_eq!(completions(&["obs"]), "observe\n");
    assert_eq!(completions(&["ack", "log", "ver"]), "verify\n");
    assert_eq!(completions(&["lab", "run", "--res"]), "--resume\n");
    assert_eq!(completions(&["lab", "run", "--profile", "fu"]), "full\n");
}

#[test]
fn scripts_of_other_shells_name_the_command_and_an_unknown_shell_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (shell, due) in [("zsh", "#compdef purlin"), ("fish", "complete -c purlin")] {
        let script = printed(&run(folder.path(), &["completions", shell]));
        assert!(script.contains(due) && script.contains("observe"), "{shell}");
    }
    let refused = line(&run(folder.path(), &["completions", "tcsh"]), 2);
    assert!(refused.contains("'tcsh'") && refused.contains("fish"), "{refused}");
}

#[test]
fn each_subcommand_has_a_page_that_groff_accepts() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(printed(&run(folder.path(), &["man", "share/man1"])), "");
    let pages: Vec<_> =
        fs::read_dir(folder.path().join("share/man1")).unwrap().map(Result::unwrap).collect();
    let names: Vec<_> =
        pages.iter().map(|page| page.file_name().to_string_lossy().into_owned()).collect();
    for name in ["purlin.1", "purlin-new.1", "purlin-lab-run.1", "purlin-ack-log-verify.1"] {
        assert!(names.iter().any(|page| page == name), "{names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("help")), "{names:?}");
    for page in &pages {
        let mut groff = Command::new("groff");
        groff.args(["-man", "-Kutf8", "-Tutf8", "-ww"]).arg(page.path()).stdin(Stdio::null());
        // WHY not a failure: pages are written without it.
        let Ok(output) = groff.output() else {
            println!("skipped: there is no groff");
            return;
        };
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{}", page.path().display());
        assert!(output.stdout.len() > 100, "{}", page.path().display());
    }
}

#[test]
fn folder_of_pages_that_cannot_be_written_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let refused = line(&run(folder.path(), &["man", "file"]), 2);
    assert!(refused.contains("cannot write pages to file: "), "{refused}");
}

#[cfg(unix)]
#[test]
fn commands_of_the_readme_succeed() {
    let folder = tempfile::tempdir().unwrap();
    let (_, section) = README.split_once("## Completions and manual pages\n").expect("the section");
    let block = section.split("```sh\n").nth(1).expect("it has commands");
    let block = block.split("```").next().expect("it ends");
    let built = Path::new(env!("CARGO_BIN_EXE_purlin")).parent().expect("it lies in a folder");
    let path = std::env::var("PATH").expect("there is a PATH");
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", block]).current_dir(&folder).env("HOME", folder.path());
    shell.env("PATH", format!("{}:{path}", built.display())).env_remove("XDG_DATA_HOME");
    printed(&shell.output().expect("there is a shell"));
    for file in [
        ".local/share/bash-completion/completions/purlin",
        ".zfunc/_purlin",
        ".config/fish/completions/purlin.fish",
        ".local/share/man/man1/purlin.1",
    ] {
        assert!(folder.path().join(file).is_file(), "{file}");
    }
}
