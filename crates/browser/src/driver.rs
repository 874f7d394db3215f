//! The script with its browser: one for all test processes with the same scripts.
//!
//! It listens at a socket in its folder, and ends when it has had no connection for ten seconds. A process that finds
//! none that listens starts one, under a lock, so that no two are started at a time.

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
/// Chromium's names, the one that starts fastest first.
const NAMES: [&str; 5] = [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// A connection to the script that has these scripts, which is started if it does not run.
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

/// What the script has written to its standard error.
pub(crate) fn log(root: &Path, name: &str) -> String {
    read(&workshop::folder(root, name))
}

fn read(folder: &Path) -> String {
    fs::read_to_string(folder.join(LOG)).unwrap_or_default()
}

/// The name of the socket. Another script or another browser has another, so that none is operated by an old one.
fn socket(scripts: &[(&str, &str)], chromium: &OsString) -> String {
    let mut hasher = DefaultHasher::new();
    (workshop::FILES, scripts, chromium).hash(&mut hasher);
    format!("{:016x}.sock", hasher.finish())
}

fn connect(folder: &Path, socket: &str) -> Option<Session> {
    let folder = File::open(folder).ok()?;
    // WHY not its path: that of a socket may have 107 bytes, and a folder of cargo's may have more.
    let path = format!("/proc/self/fd/{}/{socket}", folder.as_raw_fd());
    Session::begin(UnixStream::connect(path).ok()?)
}

/// Starts the script, and waits until it listens.
#[expect(clippy::zombie_processes, reason = "the script outlives this process, to serve others")]
fn start(folder: &Path, socket: &str, chromium: &OsString) {
    // One that was killed leaves its socket.
    let _ = fs::remove_file(folder.join(socket));
    let log = File::create(folder.join(LOG)).expect("the folder is writable");
    let mut command = Command::new("node");
    command.args(["drive.mjs", socket]).current_dir(folder).env("PURLIN_CHROMIUM", chromium);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    // WHY: it serves other processes too, so a signal to the group of this one is not for it.
    command.process_group(0);
    let mut script = command.spawn().unwrap_or_else(|problem| missing("node", &problem));
    let mut said = String::new();
    let told = script.stdout.take().expect("its output is a pipe");
    let _ = BufReader::new(told).read_line(&mut said);
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
