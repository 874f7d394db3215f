//! Stop of the program, loss of its database, its page and its arguments.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

use crate::database::database;
use crate::jobs::start;

#[test]
fn jobs_in_progress_are_finished_at_sigterm_and_others_are_left() {
    let Some(database) = database() else { return };
    let (mut program, _) = start(&database, "TERM");
    // Enough for a minute.
    let jobs = "insert into jobs (payload) select 'wait 20 add 1 1' from generate_series(1, 10000)";
    database.query(jobs);
    let mut begun = 0;
    while begun < 8 {
        program.said("attempt 1 of job ").expect("it runs");
        begun += 1;
    }
    program.end();
    while let Some(line) = program.said("") {
        begun += usize::from(line.starts_with("attempt "));
    }
    let states = database.query("select state, count(*) from jobs group by state order by state");
    assert_eq!(states, [format!("done|{begun}"), format!("ready|{}", 10_000 - begun)]);
    assert_eq!(database.query("select count(*) from ledger"), [begun.to_string()]);
}

// WHY real time: the jobs take two seconds, hundreds of times as long as the signal, so each worker performs its first one.
#[test]
fn no_worker_claims_a_job_while_others_are_stopped() {
    let Some(database) = database() else { return };
    let (mut program, _) = start(&database, "TERM");
    database.query(
        "insert into jobs (payload) select 'wait 2000 add 1 1' from generate_series(1, 100)",
    );
    for _ in 0..4 {
        program.said("attempt 1 of job ").expect("there are four workers");
    }
    program.end();
    let mut begun = 4;
    while let Some(line) = program.said("") {
        begun += usize::from(line.starts_with("attempt "));
    }
    assert_eq!(begun, 4, "jobs were begun");
    let done = database.query("select count(*) from jobs where state = 'done'");
    assert_eq!(done, [begun.to_string()]);
}

#[test]
fn workers_continue_after_the_database_was_killed() {
    let Some(mut database) = database() else { return };
    let (program, _) = start(&database, "TERM");
    for number in 1..=2 {
        if number > 1 {
            database.kill_and_restart();
        }
        database.query(&format!("insert into jobs (payload) values ('add {number} 1')"));
        program.said(&format!(": {}", number + 1)).expect("it is done");
    }
    assert_eq!(database.query("select count(*) from ledger"), ["2"]);
}

#[test]
fn page_shows_states_and_failures_with_escaped_text() {
    let Some(database) = database() else { return };
    let (program, page) = start(&database, "TERM");
    database.query("insert into jobs (payload) values ('add 1 2'), ('<b>')");
    program.said("failed 2: ").expect("it gives up");
    let get = |request: &str| {
        let mut stream = TcpStream::connect(&page).expect("it listens");
        write!(stream, "{request} HTTP/1.1\r\nHost: {page}\r\n\r\n").expect("it reads");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("it answers");
        text
    };
    let text = get("GET /");
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
    assert!(text.contains("<td>done<td>1<td>0") && text.contains("<td>failed<td>1<td>0"), "{text}");
    assert!(text.contains("<td>2<td>&lt;b&gt;<td>failed<td>5<td>no job"), "{text}");
    assert!(get("POST /").starts_with("HTTP/1.1 405 "));
    assert!(get("GET /other").starts_with("HTTP/1.1 404 "));
}

#[test]
fn invalid_arguments_are_refused_in_one_line() {
    for (arguments, due) in [
        (&[][..], "usage: jobs ADDRESS DATABASE [WORKERS]"),
        (&["8080", "host=/tmp"], "'8080' is not an address"),
        (&["127.0.0.1:0", "nonsense"], "not the address of a database"),
        (&["127.0.0.1:0", "host=/tmp", "0"], "'0' is no number of workers from 1 to 64"),
        (&["127.0.0.1:0", "host=/tmp", "1", "2"], "usage: "),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_jobs")).args(arguments).output();
        let output = output.expect("it starts");
        let line = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(line.starts_with("jobs: ") && line.lines().count() == 1, "{line}");
        assert!(line.contains(due), "{line}");
    }
}
