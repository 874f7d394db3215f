//! Name of a new package.

/// Keywords, crates of the compiler, folders of cargo, and dependencies of the project.
const RESERVED: &[&str] = &[
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "build",
    "const",
    "continue",
    "core",
    "crate",
    "deps",
    "do",
    "dyn",
    "else",
    "enum",
    "examples",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "incremental",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc_macro",
    "pub",
    "purlin",
    "purlin-testkit",
    "purlin_testkit",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "tracing",
    "tracing-subscriber",
    "tracing_subscriber",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
];
/// Largest length in bytes; a registry accepts no longer one.
const LONGEST: usize = 64;

/// Parses the name of a package.
pub(super) fn package_name(text: &str) -> Result<String, String> {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    if !text.starts_with(|c: char| c.is_ascii_lowercase()) || !text.chars().all(is_name) {
        return Err("give lower-case letters, digits, - and _, beginning with a letter".into());
    }
    if text.len() > LONGEST {
        return Err(format!("give at most {LONGEST} characters"));
    }
    if RESERVED.contains(&text) {
        return Err("it is reserved by Rust, cargo or a dependency: choose another".into());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::package_name;

    #[test]
    fn names_that_cargo_or_the_project_reserves_are_refused() {
        for name in ["demo", "a", "my-service_2", "tests"] {
            assert_eq!(package_name(name).as_deref(), Ok(name));
        }
        let long = "a".repeat(65);
        for name in [
            "", "-", "-a", "2nd", "_a", "Demo", "a b", "a/b", "..", "../a", "a.b", "ä", "fn",
            "self", "test", "std", "purlin", "tracing", "a\n", "\"", &long,
        ] {
            assert!(package_name(name).is_err(), "{name:?}");
        }
    }
}
