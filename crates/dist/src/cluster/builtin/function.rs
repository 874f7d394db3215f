//! Rust functions as Erlang `{Module, Function, Arity}`. Pure.
//!
//! Rust gives the path of a process's function as a text. The last segment is the function, the rest is the module. A
//! closure is named after the function that contains it, and a server after its type.

use std::any::type_name;

use purlin::ProcessInfo;
use purlin::supervisor::SupervisorMail;
use purlin_term::Term;

use crate::cluster::rpc::offer::atom;

const SERVER: &str = "purlin::server::mail::Mail<";

/// The initial call of a process, as OTP defines it; for a server, its `init`.
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

/// The current function, as far as it can be determined: the receive loop of a server or a supervisor, or else the
/// initial call.
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

/// Splits a path into module and function.
fn parts(path: &str) -> (&str, &str) {
    let mut path = path;
    while let Some(within) = path.strip_suffix("::{{closure}}") {
        path = within;
    }
    let mut depth = 0;
    for (index, letter) in path.char_indices().rev() {
        match letter {
            '>' if !path[..index].ends_with('-') => depth += 1,
            '<' => depth -= 1,
            ':' if depth == 0 => return (path[..index].trim_end_matches(':'), &path[index + 1..]),
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
