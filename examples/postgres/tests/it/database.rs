//! Database server of a test: a PostgreSQL with its files and its socket in a temporary folder.

use std::env;
use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use purlin_polling::until_some;
use tempfile::TempDir;

use crate::programs::{Program, children, kill};

/// A running database server. Dropping it ends the server and removes the folder.
pub(crate) struct Database {
    programs: PathBuf,
    /// Dropped before `folder`.
    server: Option<Program>,
    folder: TempDir,
    user: Option<u32>,
}

/// Returns a new database, or `None` if `PURLIN_SKIP_POSTGRES=1` leaves out the tests with one.
///
/// # Panics
/// Panics if PostgreSQL is not installed.
pub(crate) fn database() -> Option<Database> {
    if env::var_os("PURLIN_SKIP_POSTGRES").is_some_and(|value| value == "1") {
        eprintln!("skipped: PURLIN_SKIP_POSTGRES=1, so nothing was stored in a database");
        return None;
    }
    let programs = find().expect(
        "no PostgreSQL: on Debian `apt-get install postgresql`, add the folder of `initdb` to PATH, \
         or set PURLIN_SKIP_POSTGRES=1 to leave these tests out",
    );
    Some(Database::start(programs))
}

/// Returns the folder of the programs of PostgreSQL.
fn find() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    if let Ok(output) = Command::new("pg_config").arg("--bindir").output() {
        folders.push(String::from_utf8_lossy(&output.stdout).trim().into());
    }
    // Debian: a folder for each version.
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    folders.extend(versions.map(|version| version.path().join("bin")));
    let needed = ["initdb", "postgres", "psql"];
    folders.into_iter().find(|folder| needed.iter().all(|name| folder.join(name).is_file()))
}

/// Returns the user that runs the server: PostgreSQL refuses to be run by root.
fn unprivileged() -> Option<u32> {
    let id = |arguments: &[&str]| {
        let output = Command::new("id").args(arguments).output().expect("there is an id");
        String::from_utf8_lossy(&output.stdout).trim().parse::<u32>().expect("a number")
    };
    (id(&["-u"]) == 0).then(|| id(&["-u", "nobody"]))
}

impl Database {
    fn start(programs: PathBuf) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let user = unprivileged();
        if user.is_some() {
            chown(folder.path(), user, None).expect("root may");
        }
        let mut database = Self { programs, server: None, folder, user };
        let options = ["--auth=trust", "--username=test", "--encoding=UTF8", "--locale=C"];
        let mut initdb = Command::new(database.program("initdb"));
        initdb.args(options).arg("--pgdata").arg(database.data());
        database.set(&mut initdb);
        let output = initdb.output().expect("initdb is there");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        database.restart();
        database
    }

    fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Runs a command as the user of the server.
    fn set(&self, command: &mut Command) {
        command.current_dir(self.folder.path());
        if let Some(user) = self.user {
            command.uid(user);
        }
    }

    /// Returns the folder of the programs of PostgreSQL.
    pub(crate) fn programs(&self) -> &Path {
        &self.programs
    }

    /// Returns the folder of the socket.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns how a program connects to it.
    pub(crate) fn connection(&self) -> String {
        format!("host={} user=test dbname=postgres", self.folder.path().display())
    }

    /// Kills the server with all its processes, and starts it again on the same files.
    pub(crate) fn kill_and_restart(&mut self) {
        let server = self.server.take().expect("it runs");
        let children = children(server.pid());
        kill("KILL", &[&[server.pid()], &children[..]].concat());
        drop(server);
        self.restart();
    }

    fn restart(&mut self) {
        let socket = format!("unix_socket_directories={}", self.folder.path().display());
        let settings = ["fsync=on", "synchronous_commit=on", "listen_addresses=", &socket];
        // It logs to its standard error.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$@\" 2>&1", "sh"]).arg(self.program("postgres"));
        command.arg("-D").arg(self.data()).args(settings.iter().flat_map(|one| ["-c", one]));
        self.set(&mut command);
        // WHY more than once: the server does not start while a process of the killed one lives.
        let server = until_some("the database is there", || {
            // SIGQUIT also ends its children.
            let server = Program::start(&mut command, "QUIT");
            server.said("ready to accept connections").map(|_| server)
        });
        self.server = Some(server);
    }

    /// Runs a statement with `psql`, and returns its rows, with columns separated by `|`.
    pub(crate) fn query(&self, statement: &str) -> Vec<String> {
        let output = self.psql(&["--command", statement]);
        assert!(
            output.status.success(),
            "{statement}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let rows = String::from_utf8(output.stdout).expect("text");
        rows.lines().map(str::to_owned).collect()
    }

    fn psql(&self, arguments: &[&str]) -> Output {
        let mut psql = Command::new(self.program("psql"));
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"]);
        psql.arg(self.connection()).args(arguments);
        psql.output().expect("psql is there")
    }
}
