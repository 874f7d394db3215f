//! Every subcommand refuses bad input in one line on standard error, with status 2, and prints nothing else.

use crate::support::{line, purlin};

const CASES: &[(&[&str], &str)] = &[
    (&["nonsense"], "'nonsense'"),
    (&["--nonsense"], "'--nonsense'"),
    (&["new", "9lives"], "'9lives'"),
    (&["new", "demo", "extra"], "'extra'"),
    (&["new", "demo", "--path", "/dev/null"], "no checkout of purlin in /dev/null"),
    (&["completions"], "<SHELL>"),
    (&["completions", "cmd.exe"], "'cmd.exe'"),
    (&["man", "/dev/null/man"], "cannot write pages to /dev/null/man"),
    (&["lab", "list", "--jsn"], "'--jsn'"),
    (&["lab", "run", "-e", ""], "\"\""),
    (&["lab", "run", "--resume", "nowhere"], "nowhere"),
    (&["lab", "run", "--samples", "1e9"], "from 1 to"),
    (&["lab", "compare", "one.json"], "<NEW>"),
    (&["lab", "compare", "one.json", "two.json"], "one.json"),
    (&["lab", "compare", "a", "b", "--json", "--markdown"], "--markdown"),
    (&["lab", "compare", "a", "-c", "same,same"], "two contenders"),
    (&["lab", "advise", "--rate", "-1"], "from 0 to"),
    (&["lab", "advise", "--rate", "1", "nowhere"], "nowhere"),
    (&["lab", "export", "nowhere"], "nowhere"),
    (&["lab", "export", "nowhere", "--format", "xml"], "'xml'"),
    (&["lab", "time"], "<COMMAND>"),
    (&["lab", "time", "--", "/nowhere/program"], "/nowhere/program"),
    (&["ack", "serve", "--listen", "localhost"], "give an address"),
    (&["ack", "serve", "--handler", "file"], "needs a path"),
    (&["ack", "serve", "--strategy", "fast"], "fast"),
    (&["ack", "serve", "--tls-cert", "cert.pem"], "--tls-key"),
    (&["ack", "load", "nowhere:port"], "nowhere:port"),
    (&["ack", "load", "--messages", "0"], "from 1"),
    (&["ack", "load", "--tls-ca", "nowhere.pem"], "nowhere.pem"),
    (&["ack", "load", "--json", "no/such/folder/out.json"], "no/such/folder/out.json"),
    (&["ack", "log", "info", "nowhere"], "nowhere"),
    (&["ack", "log", "verify", "."], "has no segments"),
    (&["ack", "log", "dump", ".", "--from", "x"], "'x'"),
    (&["ack", "log", "repair", "nowhere", "new"], "nowhere"),
    (&["ack", "log", "convert", "nowhere", "new"], "nowhere"),
    (&["node", "--name", "nohost"], "nohost"),
    (&["node", "--name", "a@127.0.0.1", "--epmd", "here"], "give an address and a port"),
    (&["call", "a@127.0.0.1", "erlang"], "<FUNCTION>"),
    (&["call", "a@127.0.0.1", "lists", "seq", "[1,"], "'[1,'"),
    (&["call", "a@127.0.0.1", "lists", "seq", "{1}"], "give a list"),
    (&["demo", "--port", "65536"], "65536"),
    (&["demo", "--for", "0"], "above 0"),
    (&["observe", "not an address"], "\"not an address\""),
    (&["observe", "127.0.0.1:1", "--token", "a b"], "invalid token"),
    (&["observe", "127.0.0.1:1", "--rows", "0"], "0"),
    (&["observe", "127.0.0.1:1", "--sort", "size"], "'size'"),
];

#[test]
fn bad_input_is_refused_in_one_line_with_status_2() {
    for (words, due) in CASES {
        let folder = tempfile::tempdir().unwrap();
        let mut command = purlin(folder.path());
        let output = command.args(*words).env("HOME", folder.path()).output().unwrap();
        println!("{words:?}: {}", String::from_utf8_lossy(&output.stderr).trim_end());
        let line = line(&output, 2);
        assert!(line.contains(due), "{words:?}: {line}");
        assert!(output.stdout.is_empty(), "{words:?}");
        assert!(!line.contains('\u{1b}'), "{words:?}: {line}");
    }
}

#[cfg(target_os = "linux")]
mod colours {
    use std::process::Command;

    use crate::support::purlin;

    /// Runs the command on a pseudo-terminal, and returns what it prints there.
    fn on_terminal(words: &str, no_colour: bool) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let mut script = Command::new("script");
        let program = purlin(folder.path()).get_program().to_string_lossy().into_owned();
        script.args(["-q", "-e", "-c", &format!("'{program}' {words}"), "/dev/null"]);
        script.current_dir(&folder).env("TERM", "xterm-256color").env_remove("NO_COLOR");
        if no_colour {
            script.env("NO_COLOR", "1");
        }
        // WHY not a failure: a small system has no such program.
        match script.output() {
            Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
            Err(error) => {
                println!("skipped: script cannot be started ({error})");
                None
            }
        }
    }

    #[test]
    fn no_color_is_honoured_on_a_terminal() {
        for words in ["--help", "lab run --help", "lab list", "nonsense", "lab compare a b"] {
            let Some(plain) = on_terminal(words, true) else { return };
            assert!(!plain.is_empty() && !plain.contains("\u{1b}[3"), "{words}: {plain:?}");
        }
    }
}
