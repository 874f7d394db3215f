//! Functions of Rust in Erlang's words. Pure.
//!
//! A process runs a function whose path Rust tells as a text. Its last part is the function, what is before is
//! the module; a closure has the name of what it stands in. A server is what it is a server of.

use std::any::type_name;

use purlin::ProcessInfo;
use purlin::supervisor::SupervisorMail;
use purlin_term::Term;

use super::atom;

const SERVER: &str = "purlin::server::mail::Mail<";

/// The function that a process was begun with, as OTP calls it: of a server its `init`.
pub(super) fn initial_call(process: &ProcessInfo) -> Term {
    let message = process.message_type;
    if let Some(server) = message.strip_prefix(SERVER).and_then(|rest| rest.strip_suffix('>')) {
        return call(server, "init", 1);
    }
    if message == type_name::<SupervisorMail>() {
        return call("purlin::supervisor", "init", 1);
    }
    let (module, name) = parts(process.function);
    call(module, name, 1)
}

/// The function that it runs now, as far as can be seen: that in which a server or a supervisor waits, or that
/// which it was begun with.
pub(super) fn current_function(process: &ProcessInfo) -> Term {
    match process.message_type {
        message if message.starts_with(SERVER) => call("purlin::server", "serve", 1),
        message if message == type_name::<SupervisorMail>() => {
            call("purlin::supervisor", "supervise", 1)
        }
        _ => initial_call(process),
    }
}

fn call(module: &str, name: &str, arity: u8) -> Term {
    Term::tuple([atom(module), atom(name), Term::from(arity)])
}

/// The path before the last part, and that.
fn parts(path: &str) -> (&str, &str) {
    let mut path = path;
    while let Some(within) = path.strip_suffix("::{{closure}}") {
        path = within;
    }
    let mut depth = 0;
    for (place, letter) in path.char_indices().rev() {
        match letter {
            '>' if !path[..place].ends_with('-') => depth += 1,
            '<' => depth -= 1,
            ':' if depth == 0 => return (path[..place].trim_end_matches(':'), &path[place + 1..]),
            _ => {}
        }
    }
    ("", path)
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_path_is_a_module_and_a_function() {
        let all = [
            ("shop::keeper::run", ("shop::keeper", "run")),
            ("shop::main::{{closure}}::{{closure}}", ("shop", "main")),
            ("a::start<b::C<d::E>>::{{closure}}", ("a", "start<b::C<d::E>>")),
            ("a::b<fn(u8) -> c::D>", ("a", "b<fn(u8) -> c::D>")),
            ("main", ("", "main")),
        ];
        for (path, expected) in all {
            assert_eq!(parts(path), expected);
        }
    }
}
