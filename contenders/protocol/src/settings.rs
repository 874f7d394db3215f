//! Settings of Rust contenders: the number of worker threads, and the allocator.
//!
//! Read once by `main`, before the runtime is started. Pure except for reading the program's
//! arguments.

use std::num::NonZeroUsize;

/// Maximum number of threads; a larger number is most likely a typing error.
const MOST: usize = 1024;

/// Returns the N of `--workers N`; `None` if the option is absent.
///
/// # Errors
///
/// Returns one line that names the valid option, for any other arguments.
pub fn workers() -> Result<Option<NonZeroUsize>, String> {
    read(std::env::args().skip(1))
}

/// Returns the note about the allocator of a contender, which is mimalloc if it is built with the
/// feature of that name, as by default.
#[must_use]
pub fn allocator(mimalloc: bool) -> &'static str {
    if mimalloc {
        "allocator: mimalloc, as in the other contenders in Rust"
    } else {
        "allocator: that of the system, as in any program in Rust by default"
    }
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
    fn number_of_workers_is_parsed_and_optional() {
        assert_eq!(of(""), Ok(None));
        assert_eq!(of("--workers 1"), Ok(Some(1)));
        assert_eq!(of("--workers 1024"), Ok(Some(1024)));
    }

    #[test]
    fn invalid_arguments_are_refused_in_one_line_that_names_them() {
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
