//! Driver script with its browser, one for all test processes with the same scripts.
//!
//! The script listens at a socket in its folder, and exits when it has had no connection for ten
//! seconds. A process that finds no listening script starts one, under a lock, so that only one is
//! started at a time.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::io::{BufRead, BufReader};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::session::Session;
use crate::workshop::{self, Workshop, missing};

const LOG: &str = "drive.log";
/// Names of Chromium, the one that starts fastest first.
const NAMES: [&str; 5] = [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Connects to the driver of these scripts, and starts it if it does not run.
pub(crate) fn session(root: &Path, name: &str, scripts: &[(&str, &str)]) -> Session {
    let folder = workshop::folder(root, name);
    let chromium = chromium();
    let socket = socket(scripts, &chromium);
    if let Some(session) = connect(&folder, &socket) {
        return session;
    }
    let _workshop = Workshop::open(root, name, scripts);
    // WHY again: another process may have started it meanwhile.
    if let Some(session) = connect(&folder, &socket) {
        return session;
    }
    start(&folder, &socket, &chromium);
    connect(&folder, &socket)
        .unwrap_or_else(|| panic!("the script with the browser ended at once: {}", read(&folder)))
}

/// Returns what the driver has written to its standard error.
pub(crate) fn log(root: &Path, name: &str) -> String {
    read(&workshop::folder(root, name))
}

fn read(folder: &Path) -> String {
    fs::read_to_string(folder.join(LOG)).unwrap_or_default()
}

/// Returns the name of the socket, which depends on the scripts and the browser, so that no test
/// uses an outdated driver.
fn socket(scripts: &[(&str, &str)], chromium: &OsString) -> String {
    let mut hasher = DefaultHasher::new();
    (workshop::FILES, scripts, chromium).hash(&mut hasher);
    format!("{:016x}.sock", hasher.finish())
}

fn connect(folder: &Path, socket: &str) -> Option<Session> {
    let folder = File::open(folder).ok()?;
    // WHY not its path: a socket path is limited to 107 bytes, and cargo's folder may be longer.
    let path = format!("/proc/self/fd/{}/{socket}", folder.as_raw_fd());
    Session::begin(UnixStream::connect(path).ok()?)
}

/// Starts the driver, and waits until it listens.
#[expect(clippy::zombie_processes, reason = "the script outlives this process, to serve others")]
fn start(folder: &Path, socket: &str, chromium: &OsString) {
    // A driver that was killed leaves its socket.
    let _ = fs::remove_file(folder.join(socket));
    let log = File::create(folder.join(LOG)).expect("the folder is writable");
    let mut command = Command::new("node");
    command.args(["drive.mjs", socket]).current_dir(folder).env("PURLIN_CHROMIUM", chromium);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    // WHY: the driver serves other processes too, so a signal to this process group must not reach
    // it.
    command.process_group(0);
    let mut script = command.spawn().unwrap_or_else(|problem| missing("node", &problem));
    let mut said = String::new();
    let stdout = script.stdout.take().expect("its output is a pipe");
    let _ = BufReader::new(stdout).read_line(&mut said);
    assert_eq!(said, "listening\n", "the script with the browser did not start: {}", read(folder));
}

fn chromium() -> OsString {
    let found = env::var_os("PURLIN_CHROMIUM").map(PathBuf::from).or_else(|| {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders: Vec<_> = env::split_paths(&path).collect();
        let places = |name| folders.iter().map(move |folder| folder.join(name));
        NAMES.into_iter().flat_map(places).find(|place| place.is_file())
    });
    let there = found.filter(|path| path.is_file());
    let path = there.expect(
        "no Chromium: on Debian `apt-get install chromium-headless-shell`, set PURLIN_CHROMIUM to another, \
         or PURLIN_SKIP_BROWSER=1 to leave the browser tests out",
    );
    path.into_os_string()
}
