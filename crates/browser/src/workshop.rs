//! The folder in which the script runs, with its one package.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

const LOCK: &str = include_str!("../script/package-lock.json");
/// What the script needs around it, besides scenarios.
const FILES: [(&str, &str); 4] = [
    ("package.json", include_str!("../script/package.json")),
    ("package-lock.json", LOCK),
    (".npmrc", include_str!("../script/.npmrc")),
    ("drive.mjs", include_str!("../script/drive.mjs")),
];

/// Writes the scripts there, and installs the package unless it is there already.
pub(crate) fn open(folder: &Path, scripts: &[(&str, &str)]) {
    fs::create_dir_all(folder).expect("the folder is writable");
    let lock = fs::read_to_string(folder.join("package-lock.json")).ok();
    let package = folder.join("node_modules/playwright-core/package.json");
    let fresh = lock.as_deref() == Some(LOCK) && package.exists();
    for (name, text) in FILES.iter().chain(scripts) {
        fs::write(folder.join(name), text).expect("the folder is writable");
    }
    if !fresh {
        let mut install = Command::new("npm");
        install.args(["ci", "--no-audit", "--no-fund", "--omit=optional"]);
        let output = install.current_dir(folder).output();
        let output = output.unwrap_or_else(|problem| missing("npm", &problem));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "npm could not install playwright-core: {said}");
    }
}

pub(crate) fn missing(program: &str, problem: &io::Error) -> ! {
    match problem.kind() {
        io::ErrorKind::NotFound => panic!(
            "{program} is not installed: on Debian `apt-get install nodejs npm chromium`, \
             or PURLIN_SKIP_BROWSER=1 to leave the browser tests out"
        ),
        _ => panic!("{program} did not start: {problem}"),
    }
}
