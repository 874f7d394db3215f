//! What a job does: the part to replace.

use std::time::Duration;

use crate::Failure;

/// A job that a worker has claimed.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: i64,
    pub(crate) payload: String,
    /// Number of this attempt, from 1.
    pub(crate) attempt: i32,
}

/// Performs a job and returns its result. An error or a panic is a failed attempt.
///
/// | payload | effect |
/// |---|---|
/// | `add 1 2 3` | the sum of the numbers |
/// | `flaky 2 add 1 2` | fails two times, then as `add 1 2` |
/// | `wait 100 add 1 2` | waits for 100 ms, then as `add 1 2` |
/// | `crash` | panics |
pub(crate) async fn perform(job: Job) -> Result<String, Failure> {
    let mut words = job.payload.split_whitespace();
    loop {
        match words.next() {
            Some("add") => return add(words),
            Some("flaky") => {
                let failures: i32 = words.next().ok_or("flaky needs a number")?.parse()?;
                if job.attempt <= failures {
                    return Err(format!("attempt {} of job {} fails", job.attempt, job.id).into());
                }
            }
            Some("wait") => {
                let milliseconds = words.next().ok_or("wait needs a number")?.parse()?;
                tokio::time::sleep(Duration::from_millis(milliseconds)).await;
            }
            Some("crash") => panic!("job {} crashes", job.id),
            _ => return Err(format!("no job \"{}\"", job.payload).into()),
        }
    }
}

fn add<'a>(numbers: impl Iterator<Item = &'a str>) -> Result<String, Failure> {
    let mut sum = 0_i64;
    for number in numbers {
        sum = sum.checked_add(number.parse()?).ok_or("the sum is too large")?;
    }
    Ok(sum.to_string())
}
