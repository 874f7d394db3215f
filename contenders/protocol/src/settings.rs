//! What a contender in Rust may be told on its command line: how many threads run its processes.
//!
//! Read once by `main`, before the runtime is started. Pure but for the arguments of the program.

use std::num::NonZeroUsize;

/// More threads than this are a slip of the pen.
const MOST: usize = 1024;

/// The threads that `--workers N` asks for; `None` where nothing was asked.
///
/// # Errors
///
/// One line that says what there is, for everything else.
pub fn workers() -> Result<Option<NonZeroUsize>, String> {
    read(std::env::args().skip(1))
}

fn read(mut words: impl Iterator<Item = String>) -> Result<Option<NonZeroUsize>, String> {
    let Some(word) = words.next() else {
        return Ok(None);
    };
    if word != "--workers" {
        return Err(format!("{word:?} is no option; there is --workers N"));
    }
    let number = words.next().unwrap_or_default();
    if let Some(more) = words.next() {
        return Err(format!("{more:?} is one word too many; there is --workers N"));
    }
    match number.parse::<NonZeroUsize>() {
        Ok(workers) if workers.get() <= MOST => Ok(Some(workers)),
        _ => Err(format!("--workers takes a number from 1 to {MOST}, not {number:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &str) -> Result<Option<usize>, String> {
        let read = read(words.split_whitespace().map(Into::into))?;
        Ok(read.map(NonZeroUsize::get))
    }

    #[test]
    fn a_number_of_workers_is_read_and_without_one_the_default_is_meant() {
        assert_eq!(of(""), Ok(None));
        assert_eq!(of("--workers 1"), Ok(Some(1)));
        assert_eq!(of("--workers 1024"), Ok(Some(1024)));
    }

    #[test]
    fn what_is_no_number_of_workers_is_refused_in_one_line_that_names_it() {
        for (words, named) in [
            ("--worker 2", "--worker"),
            ("--workers", "\"\""),
            ("--workers 0", "\"0\""),
            ("--workers -1", "\"-1\""),
            ("--workers 1025", "\"1025\""),
            ("--workers 2 3", "\"3\""),
        ] {
            let refused = of(words).unwrap_err();
            assert!(refused.contains(named) && !refused.contains('\n'), "{refused}");
        }
    }
}
