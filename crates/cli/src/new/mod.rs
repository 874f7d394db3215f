//! `purlin new`: creates a project.
//!
//! The files are those of `project`, in which `@name@` and `@checkout@` are replaced. Its Rust sources have no
//! placeholder: they are also an example of this crate, so they are compiled and tested with it.

mod checkout;
mod name;

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use clap::Args;
use purlin_lab::error::Problem;

use self::checkout::Checkout;
use crate::output::print;

const HELP: &str = "\
Examples:
  purlin new demo && cd demo && cargo run
      a project in the folder demo; Ctrl-C stops the program
  purlin new demo --path ../purlin
      with another checkout of purlin

The project has a supervision tree, a server, a worker, tests in virtual time and a Dockerfile.
Its Cargo.toml names a checkout of purlin, which is not published, and its Cargo.lock is that of
the checkout, so it uses the libraries that purlin is tested with.

Exit status:
  0  the project is created
  2  the name is invalid or in use, there is no checkout, or the folder cannot be written";

/// Path and contents of each file.
const FILES: [(&str, &str); 9] = [
    ("Cargo.toml", include_str!("project/Cargo.toml.in")),
    ("Dockerfile", include_str!("project/Dockerfile.in")),
    (".dockerignore", include_str!("project/dockerignore.in")),
    (".gitignore", include_str!("project/gitignore.in")),
    ("README.md", include_str!("project/README.md.in")),
    ("src/clock.rs", include_str!("project/src/clock.rs")),
    ("src/counter.rs", include_str!("project/src/counter.rs")),
    ("src/main.rs", include_str!("project/src/main.rs")),
    ("src/tests.rs", include_str!("project/src/tests.rs")),
];

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct New {
    /// Name of the package, and of its folder in the current one
    #[arg(value_name = "NAME", value_parser = name::package_name)]
    name: String,

    /// Depend on the checkout of purlin in this folder [default: the one this command was built from]
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

/// Creates the project. Returns the exit status.
pub(crate) fn new(options: &New) -> Result<u8, Problem> {
    let New { name, path } = options;
    let checkout = Checkout::find(path.as_deref())?;
    let folder = Path::new(name);
    fs::create_dir(folder).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Problem::new(format!("\"{name}\" exists here: choose another name, or remove it"))
        }
        _ => cannot_create(name, &error),
    })?;
    if let Err(error) = write(folder, name, &checkout) {
        // WHY: the name is free again for the next attempt. The first error is the one to report.
        let _ = fs::remove_dir_all(folder);
        return Err(cannot_create(name, &error));
    }
    print(&format!("created {name}; run it with\n\n  cd {name}\n  cargo run\n"))?;
    Ok(0)
}

fn cannot_create(name: &str, error: &io::Error) -> Problem {
    Problem::new(format!("cannot create \"{name}\": {error}"))
}

fn write(folder: &Path, name: &str, checkout: &Checkout) -> io::Result<()> {
    fs::create_dir(folder.join("src"))?;
    for (path, contents) in FILES {
        let contents = contents.replace("@name@", name).replace("@checkout@", checkout.path());
        fs::write(folder.join(path), contents)?;
    }
    checkout.copy_lock(&folder.join("Cargo.lock"))
}
