//! Operates a page in a real Chromium, for the tests of crates that have one.
//!
//! A test program has one [`Browser`], with the scripts of its scenarios. The script `drive.mjs`, started once
//! beside them, opens pages and runs a scenario at a time. Node, npm and Chromium must be installed;
//! `PURLIN_CHROMIUM` names another browser, `PURLIN_SKIP_BROWSER=1` leaves all scenarios out, aloud, and
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

#![forbid(unsafe_code)]

mod driver;
mod workshop;

use std::env;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use driver::Driver;

/// A browser, and the scripts that operate pages in it. It starts when it is first needed.
///
/// ```no_run
/// use purlin_browser::{Browser, nothing};
/// use serde_json::Value;
///
/// const SCRIPT: &str = "export const scenarios = { opens: ({ open }) => open() };";
/// static BROWSER: Browser = Browser::new("target/tmp/shop", &[("scenarios.mjs", SCRIPT)]);
///
/// BROWSER.operate("opens", "http://127.0.0.1:4000/", &Value::Null, nothing);
/// ```
pub struct Browser {
    folder: &'static str,
    scripts: &'static [(&'static str, &'static str)],
    driver: Mutex<Option<Driver>>,
}

impl Browser {
    /// One whose scripts, names and texts, are put into that folder, which is made if it is not there.
    pub const fn new(
        folder: &'static str,
        scripts: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { folder, scripts, driver: Mutex::new(None) }
    }

    /// Has a scenario operate the page at an address, or in a file with a whole path. `about` is told to it, and
    /// `act` does what it asks for, by name. Others wait meanwhile.
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
        let request = json!({"scenario": scenario, "page": page, "about": about});
        let mut place = self.driver.lock().unwrap_or_else(PoisonError::into_inner);
        // WHY taken: one that is left in the middle of a scenario, by a panic of `act`, is of no use to others.
        let start = || Driver::start(Path::new(self.folder), self.scripts);
        let mut driver = place.take().unwrap_or_else(start);
        let Some(problem) = driver.ask(&request, &mut act) else {
            panic!("{scenario}: the script with the browser ended; its words are above")
        };
        *place = Some(driver);
        drop(place);
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
