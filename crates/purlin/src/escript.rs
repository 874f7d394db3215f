//! Comparison with OTP: runs an escript that reads terms and prints a line for each.

use std::fmt::Display;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Returns the line that the script prints for each of these terms. Returns `None` if Erlang is not
/// installed and must not be installed.
pub(crate) fn play(script: &str, terms: &[impl Display]) -> Option<Vec<String>> {
    let mut command = Command::new("escript");
    command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(_) if std::env::var_os("PURLIN_NO_INSTALL").is_some_and(|value| value == "1") => {
            println!("skipped: there is no escript, and PURLIN_NO_INSTALL=1 forbids installing it");
            return None;
        }
        Err(error) => panic!(
            "escript cannot be started ({error}): install Erlang, on Debian with `apt-get install erlang-base`, or run `make test`, which does"
        ),
    };
    let mut asks = child.stdin.take().expect("its input is a pipe");
    let text: String = terms.iter().map(|term| format!("{term}.\n")).collect();
    let asking = std::thread::spawn(move || asks.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    asking.join().expect("this thread does not panic").expect("it reads all");
    assert!(output.status.success(), "the script ends well");
    let lines = String::from_utf8(output.stdout).expect("it writes text");
    let lines: Vec<String> = lines.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), terms.len(), "each is answered");
    Some(lines)
}
