//! The program is killed at random moments while it performs jobs. In the end every job is done, or has failed as often
//! as it may, and the ledger has each effect once.
//!
//! `PURLIN_KILLS` sets the number of kills, `PURLIN_SEED` repeats a run.

use std::env;
use std::thread::sleep;
use std::time::Duration;

use fastrand::Rng;
use purlin_polling::until;

use crate::database::database;
use crate::jobs::start;
use crate::programs::{Program, kill};

/// Jobs that are submitted before each kill. WHY more than done reports before a kill: some are always left.
const JOBS: u64 = 40;
const DONE: u32 = 20;

/// A job of each kind: its payload, state and attempts in the end, and result.
fn kinds(number: u64) -> (String, &'static str, u64, Option<u64>) {
    let sum = Some(number + 1);
    match number % 8 {
        0..4 => (format!("add {number} 1"), "done", 1, sum),
        4 | 5 => (format!("wait {} add {number} 1", number % 5), "done", 1, sum),
        6 => (format!("flaky {0} add {number} 1", number % 3), "done", number % 3 + 1, sum),
        _ if number % 16 == 7 => ("crash".into(), "failed", 5, None),
        _ => (format!("add {number} one"), "failed", 5, None),
    }
}

#[test]
fn no_job_is_lost_and_each_effect_happens_once_through_random_kills() {
    let Some(database) = database() else { return };
    let number = |name| env::var(name).ok().map(|value| value.parse().expect("a number"));
    let kills = number("PURLIN_KILLS").unwrap_or(20);
    let seed = number("PURLIN_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("PURLIN_KILLS={kills} PURLIN_SEED={seed}");
    let mut random = Rng::with_seed(seed);
    let (mut program, _) = start(&database, "KILL");
    let mut begun = 0;
    for round in 0..kills {
        let jobs = round * JOBS..(round + 1) * JOBS;
        let rows: Vec<_> = jobs.map(|number| format!("('{}')", kinds(number).0)).collect();
        database.query(&format!("insert into jobs (payload) values {}", rows.join(", ")));
        let mut done = random.u32(1..DONE);
        while done > 0 {
            let line = program.said("").expect("it runs");
            begun += u64::from(line.starts_with("attempt "));
            done -= u32::from(line.starts_with("done "));
        }
        // WHY: the report of a job would otherwise be the only moment of a kill.
        sleep(Duration::from_micros(random.u64(..5000)));
        kill("KILL", &[program.pid()]);
        program.end();
        begun += attempts(&program);
        program = start(&database, "KILL").0;
    }
    let ready = "select 1 from jobs where state = 'ready' limit 1";
    until("no job is ready", || database.query(ready).is_empty());
    program.end();
    begun += attempts(&program);

    let rows = database.query(
        "select jobs.id - 1, payload, state, attempts, count(job), max(result)
         from jobs left join ledger on job = id group by id order by id",
    );
    let due = (0..kills * JOBS).map(|number| {
        let (payload, state, attempts, result) = kinds(number);
        let (effects, result) = match result {
            Some(result) => (1, result.to_string()),
            None => (0, String::new()),
        };
        format!("{number}|{payload}|{state}|{attempts}|{effects}|{result}")
    });
    for (row, due) in rows.iter().zip(due) {
        assert_eq!(*row, due);
    }
    assert_eq!(rows.len() as u64, kills * JOBS);
    let ended = (0..kills * JOBS).map(|number| kinds(number).2).sum::<u64>();
    println!("{} jobs, {begun} attempts, of which {} were killed", rows.len(), begun - ended);
    assert!(begun > ended, "no kill met a job in progress");
}

/// Returns the number of attempts in the rest of the output.
fn attempts(program: &Program) -> u64 {
    let lines = std::iter::from_fn(|| program.said(""));
    lines.filter(|line| line.starts_with("attempt ")).count() as u64
}
