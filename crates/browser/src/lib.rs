//! Browser tests: operates pages in a real Chromium.
//!
//! A test program has one [`Browser`], with the scripts of its scenarios. The script `drive.mjs`
//! starts Chromium once for all test processes with the same scripts, and runs their scenarios,
//! each in a separate browser context. The script exits ten seconds after the last of these
//! processes. Node, npm and a Chromium must be installed; `PURLIN_CHROMIUM` selects another
//! browser, `PURLIN_SKIP_BROWSER=1` skips all scenarios with a message, and `PURLIN_PICTURES` sets
//! a folder for the pictures that scenarios take.
//!
//! `scenarios.mjs` exports `scenarios`, asynchronous functions by name. Each receives
//!
//! | field | contents |
//! |---|---|
//! | `open(options)` | opens a Playwright page and waits for the attribute `data-ready` of `<html>`; options in addition to Playwright's: `url`, another address; `at`, a fragment to open; `script`, code that runs first |
//! | `act(name)` | asks the test to do something, and waits until that is done |
//! | `picture(page, name)`, `pictures` | takes a picture; whether any are requested |
//! | `about`, `url` | data from the test; address of the page |
//!
//! A scenario fails if it throws, or if one of its pages logs an error or a warning, throws, or
//! requests something from another origin, unless `page.expected` lists that. The crate is for
//! tests only: every failure panics.
//!
//! | file | role |
//! |---|---|
//! | `workshop` | folder with the scripts and their packages |
//! | `driver` | finds the running driver script, or starts it |
//! | `session` | connection to the driver script |

mod driver;
mod session;
mod workshop;

use std::env;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// A browser with the scripts that operate pages in it. It starts on first use.
///
/// ```no_run
/// use purlin_browser::{Browser, nothing};
/// use serde_json::Value;
///
/// const SCRIPT: &str = "export const scenarios = { opens: ({ open }) => open() };";
/// static BROWSER: Browser = Browser::new("target/tmp", "shop", &[("scenarios.mjs", SCRIPT)]);
///
/// BROWSER.operate("opens", "http://127.0.0.1:4000/", &Value::Null, nothing);
/// ```
pub struct Browser {
    root: &'static str,
    name: &'static str,
    scripts: &'static [(&'static str, &'static str)],
}

impl Browser {
    /// Creates a browser. `scripts` are names and texts of files, which are written to the folder
    /// `name` below `root`, cargo's folder for temporary files. Files shared by all browsers are in
    /// `root` too.
    pub const fn new(
        root: &'static str,
        name: &'static str,
        scripts: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { root, name, scripts }
    }

    /// Writes a file, such as the text of a page, to the folder of the scripts.
    ///
    /// # Panics
    /// Panics if the file cannot be written.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = workshop::folder(Path::new(self.root), self.name).join(name);
        workshop::publish(&file, text);
        file
    }

    /// Runs a scenario on the page at an address, or in a file given by its absolute path. Passes
    /// `about` to the scenario, and calls `act` for each of its requests, by name.
    ///
    /// # Panics
    /// Panics with the scenario's message if it fails, and if something is not installed.
    pub fn operate(&self, scenario: &str, page: &str, about: &Value, mut act: impl FnMut(&str)) {
        if env::var_os("PURLIN_SKIP_BROWSER").is_some_and(|value| value == "1") {
            eprintln!(
                "skipped: PURLIN_SKIP_BROWSER=1, so no browser has seen the page ({scenario})"
            );
            return;
        }
        let pictures = env::var("PURLIN_PICTURES").ok();
        let request =
            json!({"scenario": scenario, "page": page, "about": about, "pictures": pictures});
        let mut session = driver::session(Path::new(self.root), self.name, self.scripts);
        let Some(problem) = session.ask(&request, &mut act) else {
            let log = driver::log(Path::new(self.root), self.name);
            panic!("{scenario}: the script with the browser ended: {log}")
        };
        if let Some(words) = problem {
            panic!("{scenario}: {words}");
        }
    }
}

/// Handler for scenarios without requests.
///
/// # Panics
/// Panics if it is called.
pub fn nothing(wish: &str) {
    panic!("no handler for {wish} here");
}
