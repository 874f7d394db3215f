//! Folder of a driver script, inside of the folder with the packages that all scripts need.
//!
//! ```text
//! root/browser/package.json, package-lock.json, .npmrc, node_modules   installed once
//! root/browser/lock                                                    held by the process that writes here
//! root/browser/NAME/drive.mjs, scenarios.mjs, …                        a crate's own
//! ```

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{FlockOperation, flock};

const LOCK: &str = include_str!("../script/package-lock.json");
/// Files of the script's folder: three of the npm package, and the driver, which imports the
/// scenarios.
pub(crate) const FILES: [(&str, &str); 4] = [
    ("package.json", include_str!("../script/package.json")),
    ("package-lock.json", LOCK),
    (".npmrc", include_str!("../script/.npmrc")),
    ("drive.mjs", include_str!("../script/drive.mjs")),
];
/// Written last, so that an interrupted installation is repeated.
const INSTALLED: &str = "node_modules/.installed";

/// Returns the folder of the scripts with that name.
pub(crate) fn folder(root: &Path, name: &str) -> PathBuf {
    root.join("browser").join(name)
}

/// Exclusive access to the folders, across processes.
pub(crate) struct Workshop {
    /// Lock file; closing it releases the lock.
    _lock: File,
}

impl Workshop {
    /// Waits for the lock, writes the scripts, and installs the packages unless they are already
    /// installed.
    pub(crate) fn open(root: &Path, name: &str, scripts: &[(&str, &str)]) -> Self {
        let (shared, own) = (root.join("browser"), folder(root, name));
        fs::create_dir_all(&own).expect("the folder is writable");
        let lock = File::create(shared.join("lock")).expect("the folder is writable");
        flock(&lock, FlockOperation::LockExclusive).expect("the folder's file system has locks");
        let [packages @ .., drive] = &FILES;
        for (name, text) in scripts.iter().chain([drive]) {
            publish(&own.join(name), text);
        }
        let installed = fs::read_to_string(shared.join(INSTALLED));
        if installed.ok().as_deref() != Some(LOCK) {
            for (name, text) in packages {
                publish(&shared.join(name), text);
            }
            install(&shared);
            publish(&shared.join(INSTALLED), LOCK);
        }
        Self { _lock: lock }
    }
}

fn install(folder: &Path) {
    let mut install = Command::new("npm");
    install.args(["ci", "--no-audit", "--no-fund", "--omit=optional", "--omit=dev"]);
    let output = install.current_dir(folder).output();
    let output = output.unwrap_or_else(|problem| missing("npm", &problem));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "npm could not install playwright-core: {said}");
}

/// Replaces a file atomically, because other processes may be reading it.
pub(crate) fn publish(file: &Path, text: &str) {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    if fs::read(file).is_ok_and(|old| old == text.as_bytes()) {
        return;
    }
    // ORDER: only uniqueness is needed; nothing else depends on the number.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let new = file.with_extension(format!("{}-{number}.new", process::id()));
    fs::create_dir_all(file.parent().expect("a file is in a folder")).expect("it is writable");
    fs::write(&new, text).expect("the folder is writable");
    fs::rename(&new, file).expect("the folder is writable");
}

pub(crate) fn missing(program: &str, problem: &io::Error) -> ! {
    match problem.kind() {
        io::ErrorKind::NotFound => panic!(
            "{program} is not installed: on Debian `apt-get install nodejs npm chromium-headless-shell`, \
             or PURLIN_SKIP_BROWSER=1 to leave the browser tests out"
        ),
        _ => panic!("{program} did not start: {problem}"),
    }
}
