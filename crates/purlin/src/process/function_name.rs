//! Name of the function that a process runs, for reports and lists.

use std::any::type_name;
use std::cell::Cell;
use std::ptr;

/// Module of the functions that start servers.
const STARTS: &str = "purlin::server::start::";
/// Prefix of the methods of a node that start servers, in that module.
const ON_NODE: &str = "<impl purlin::node::handle::Node>::";

thread_local! {
    /// Type name for which [`function_name`] was last called on this thread, and its result.
    static LAST: Cell<[&'static str; 2]> = const { Cell::new([""; 2]) };
}

/// Returns the name of a process's function: the path of the function or closure, and for a server
/// the path of its type.
// WHY the last result is kept: each crash report has this name, and a supervisor may restart a million
// children of one type per second.
pub(crate) fn function_name<F>() -> &'static str {
    let name = type_name::<F>();
    let [last, result] = LAST.get();
    if ptr::eq(last, name) {
        return result;
    }
    let result = readable(name);
    LAST.set([name, result]);
    result
}

/// Returns the first type argument of a function that starts a server, and other names unchanged.
fn readable(name: &'static str) -> &'static str {
    let Some(start) = name.strip_prefix(STARTS) else { return name };
    let method = start.strip_prefix(ON_NODE).unwrap_or(start);
    let arguments =
        ["start_link<", "start<"].iter().find_map(|function| method.strip_prefix(function));
    let Some(arguments) = arguments else { return name };
    let mut depth = 0_usize;
    for (at, byte) in arguments.bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'[' => depth += 1,
            b',' | b'>' if depth == 0 => return &arguments[..at],
            b'>' | b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_the_name_of_its_type() {
        for (name, shown) in [
            ("purlin::server::start::start<shop::Till>::{{closure}}::{{closure}}", "shop::Till"),
            (
                "purlin::server::start::start_link<a::B<(u8, [c::D; 2])>, ()>::{{closure}}",
                "a::B<(u8, [c::D; 2])>",
            ),
            (
                "purlin::server::start::<impl purlin::node::handle::Node>::start<shop::Till>::{{closure}}",
                "shop::Till",
            ),
            ("shop::main::{{closure}}", "shop::main::{{closure}}"),
            ("purlin::server::start::other", "purlin::server::start::other"),
            ("purlin::server::start::start<unclosed", "purlin::server::start::start<unclosed"),
        ] {
            assert_eq!(readable(name), shown);
        }
    }

    #[test]
    fn a_function_has_its_path() {
        let name = |_: ()| ();
        fn of<F>(_: F) -> &'static str {
            function_name::<F>()
        }
        assert!(of(name).contains("a_function_has_its_path"), "{}", of(name));
    }
}
