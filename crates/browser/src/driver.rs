//! The script with its browser, as a program that is asked line by line.

use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::workshop::{self, missing};

/// The script with its browser. It ends with this, or with the program, whose end closes its input.
pub(crate) struct Driver {
    script: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Driver {
    pub(crate) fn start(folder: &Path, scripts: &[(&str, &str)]) -> Self {
        workshop::open(folder, scripts);
        let mut command = Command::new("node");
        command.arg("drive.mjs").current_dir(folder).env("PURLIN_CHROMIUM", chromium());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut script = command.spawn().unwrap_or_else(|problem| missing("node", &problem));
        let requests = script.stdin.take().expect("its input is a pipe");
        let answers = BufReader::new(script.stdout.take().expect("its output is a pipe"));
        Self { script, requests, answers }
    }

    /// What is wrong, if anything is; nothing at all where the script has ended.
    pub(crate) fn ask(
        &mut self,
        request: &Value,
        act: &mut dyn FnMut(&str),
    ) -> Option<Option<String>> {
        writeln!(self.requests, "{request}").ok()?;
        loop {
            let mut line = String::new();
            self.answers.read_line(&mut line).ok()?;
            let answer = serde_json::from_str::<Value>(&line).ok()?;
            let Some(wish) = answer["do"].as_str() else {
                return Some(answer["problem"].as_str().map(str::to_owned));
            };
            act(wish);
            writeln!(self.requests, "{{}}").ok()?;
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // It may hang in the middle of a scenario; the browser ends with it.
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

fn chromium() -> OsString {
    let path = env::var_os("PURLIN_CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into());
    assert!(
        Path::new(&path).exists(),
        "no Chromium at {}: on Debian `apt-get install chromium`, set PURLIN_CHROMIUM to another, \
         or PURLIN_SKIP_BROWSER=1 to leave the browser tests out",
        path.to_string_lossy()
    );
    path
}
