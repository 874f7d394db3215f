//! Operates a page in a real Chromium, for the tests of crates that have one.
//!
//! A test program has one [`Browser`], with the scripts of its scenarios. The script `drive.mjs` starts Chromium
//! once for all test processes that have the same scripts, and runs their scenarios, each in a separate browser
//! context. The script exits ten seconds after the last of these processes. Node, npm and a Chromium must be
//! installed; `PURLIN_CHROMIUM` names another browser, `PURLIN_SKIP_BROWSER=1` leaves all scenarios out, aloud, and
//! `PURLIN_PICTURES` names a folder for the pictures that scenarios take.
//!
//! `scenarios.mjs` exports `scenarios`, asynchronous functions by name. Each is given
//!
//! | field | what it is |
//! |---|---|
//! | `open(options)` | a page of Playwright's, once its `<html>` has an attribute `data-ready`; `url`, `at` and `script` are options besides Playwright's own: another address, a fragment that it is led to, and what runs in it first |
//! | `act(name)` | has the test do something, and waits until that is done |
//! | `picture(page, name)`, `pictures` | takes a picture; whether any are wanted |
//! | `about`, `url` | what the test told it; where the page is |
//!
//! It fails if it throws, or if one of its pages has written an error, thrown one, or asked for what is not its
//! own, unless `page.expected` lists that. For tests alone: whatever goes wrong panics.
//!
//! | file | role |
//! |---|---|
//! | `workshop` | the folder with the scripts and the packages that they need |
//! | `driver` | finds the script that runs, or starts it |
//! | `session` | one scenario, over a socket to that script |

mod driver;
mod session;
mod workshop;

use std::env;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// A browser, and the scripts that operate pages in it. It starts when it is first needed.
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
    /// A browser whose scripts, names and texts, are put into a folder of that name within `root`, which is cargo's
    /// folder for temporary files. What all browsers share is in `root` too.
    pub const fn new(
        root: &'static str,
        name: &'static str,
        scripts: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { root, name, scripts }
    }

    /// A file in the folder of the scripts, for the text of a page.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = workshop::folder(Path::new(self.root), self.name).join(name);
        workshop::publish(&file, text);
        file
    }

    /// Has a scenario operate the page at an address, or in a file with a whole path. `about` is told to it, and
    /// `act` does what it asks for, by name.
    ///
    /// # Panics
    /// If the scenario fails, with its words; if something is not installed.
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

/// What is done for a scenario that asks for nothing.
///
/// # Panics
/// If it does.
pub fn nothing(wish: &str) {
    panic!("nobody does {wish} here");
}
