//! Name of the function that a process runs, for reports and lists.

use std::any::type_name;

/// Module of the functions that start servers.
const STARTS: &str = "purlin::server::start::";

/// Returns the name of a process's function: the path of the function or closure, and for a server
/// the path of its type.
pub(crate) fn function_name<F>() -> &'static str {
    readable(type_name::<F>())
}

/// Returns the first type argument of a function that starts a server, and other names unchanged.
fn readable(name: &'static str) -> &'static str {
    let Some(start) = name.strip_prefix(STARTS) else { return name };
    let arguments = ["start_link<", "start<"]
        .iter()
        .find_map(|start_of| start.find(start_of).map(|at| &start[at + start_of.len()..]));
    let Some(arguments) = arguments else { return name };
    let mut depth = 0_usize;
    for (at, c) in arguments.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            ',' | '>' if depth == 0 => return &arguments[..at],
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
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
