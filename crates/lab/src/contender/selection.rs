//! Selection of contenders: those the user names, or all that can run here.
//!
//! A text names a built-in contender (`beam`), a built-in one with options for its runtime
//! (`beam:+sbwt none`), or the user's own program (`mine=python3 mine.py`).

use super::find::{BUILT_IN, CommandLine, ELSEWHERE, Surroundings, WITH_OPTIONS};
use crate::error::Problem;

/// A selected contender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contender {
    /// Name in the results: the user's text, or the name given to the user's own program.
    pub label: String,
    /// The complete text the user wrote.
    pub text: String,
    source: Source,
}

/// Origin of a contender: a built-in runtime with its options, or a command line of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    BuiltIn { id: &'static str, options: Vec<String> },
    Own(Vec<String>),
}

/// The contenders of a run, and those left out.
#[derive(Debug, Default)]
pub struct Selection {
    /// The contenders that take part.
    pub contenders: Vec<Contender>,
    /// One line for each built-in contender left out by default.
    pub left_out: Vec<String>,
}

impl Contender {
    /// Returns the command line; compiles the contender first if needed.
    ///
    /// # Errors
    ///
    /// Returns one line if the contender cannot be compiled.
    pub fn command(&self, surroundings: &Surroundings) -> Result<CommandLine, Problem> {
        match &self.source {
            Source::BuiltIn { id, options } => surroundings.command(id, options),
            Source::Own(words) => {
                let (program, arguments) = words.split_first().ok_or_else(|| {
                    Problem::new(format!("contender {} has no command", self.label))
                })?;
                Ok(CommandLine {
                    program: program.into(),
                    arguments: arguments.iter().map(Into::into).collect(),
                    variables: Vec::new(),
                })
            }
        }
    }

    /// Returns the contender's id without its options: the built-in id, or the name of the user's
    /// own program.
    pub fn kind(&self) -> &str {
        match &self.source {
            Source::BuiltIn { id, .. } => id,
            Source::Own(_) => &self.label,
        }
    }

    /// Returns why the contender cannot run here.
    fn missing(&self, surroundings: &Surroundings) -> Option<String> {
        match &self.source {
            Source::BuiltIn { id, .. } => surroundings.missing(id),
            Source::Own(words) => {
                let program = words.first()?;
                let given = program.contains(std::path::MAIN_SEPARATOR);
                let there = if given {
                    std::path::Path::new(program).exists()
                } else {
                    surroundings.program(program).is_some()
                };
                (!there).then(|| {
                    format!(
                        "there is no program {program}; check the command line after {}=",
                        self.label
                    )
                })
            }
        }
    }
}

/// Returns the contenders these texts name; for no texts, all built-in ones that can run here.
///
/// # Errors
///
/// Returns one line if a text names no contender, a contender is named twice, or a requested
/// runtime is not installed.
pub fn select(texts: &[String], surroundings: &Surroundings) -> Result<Selection, Problem> {
    if texts.is_empty() {
        return by_default(surroundings);
    }
    let mut selection = Selection::default();
    for piece in texts.iter().flat_map(|text| pieces(text)) {
        let contender = parse(&piece)?;
        if selection.contenders.iter().any(|known| known.label == contender.label) {
            return Err(Problem::new(format!(
                "contender {} is named twice; name it once",
                contender.label
            )));
        }
        if let Some(missing) = contender.missing(surroundings) {
            return Err(Problem::new(format!("contender {}: {missing}", contender.label)));
        }
        selection.contenders.push(contender);
    }
    Ok(selection)
}

fn by_default(surroundings: &Surroundings) -> Result<Selection, Problem> {
    let mut selection = Selection::default();
    for (id, _) in BUILT_IN {
        match surroundings.missing(id) {
            None => {
                let with_options = WITH_OPTIONS
                    .into_iter()
                    .filter(|text| text.split_once(':').is_some_and(|(without, _)| without == id));
                for text in std::iter::once(id).chain(with_options) {
                    selection.contenders.push(parse(text)?);
                }
            }
            Some(missing) => selection.left_out.push(format!("{id} is left out: {missing}")),
        }
    }
    if selection.contenders.is_empty() {
        return Err(Problem::new(format!(
            "no contender can run here: {}",
            selection.left_out.join("; ")
        )));
    }
    Ok(selection)
}

/// Splits at commas; after `NAME=` the rest of the text belongs to the command.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    loop {
        if own_name(rest).is_some() {
            pieces.push(rest.trim().to_owned());
            return pieces;
        }
        match rest.split_once(',') {
            None => {
                pieces.push(rest.trim().to_owned());
                return pieces;
            }
            Some((piece, more)) => {
                pieces.push(piece.trim().to_owned());
                rest = more;
            }
        }
    }
}

/// Returns the name and the command of a text such as `mine=python3 mine.py`.
fn own_name(text: &str) -> Option<(&str, &str)> {
    let (name, command) = text.split_once('=')?;
    let name = name.trim();
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "._-".contains(sign);
    (!name.is_empty() && name.chars().all(plain)).then_some((name, command))
}

fn parse(text: &str) -> Result<Contender, Problem> {
    if let Some((name, command)) = own_name(text) {
        return Ok(Contender {
            label: name.to_owned(),
            text: text.to_owned(),
            source: Source::Own(words(text, command, "a command")?),
        });
    }
    let (id, options) = text.split_once(':').unwrap_or((text, ""));
    let Some((id, _)) = BUILT_IN.into_iter().find(|(known, _)| *known == id.trim()) else {
        if let Some((id, _, way)) = ELSEWHERE.into_iter().find(|(known, ..)| *known == id.trim()) {
            return Err(Problem::new(format!("contender {id}: {way}")));
        }
        let known = BUILT_IN.map(|(id, _)| id).join(", ");
        return Err(Problem::new(format!(
            "there is no contender {text:?}; there are {known}, each with options after a colon, and NAME=COMMAND for your own (see `purlin lab list`)"
        )));
    };
    let options = match options.trim() {
        "" => Vec::new(),
        options => words(text, options, "options")?,
    };
    Ok(Contender {
        label: text.to_owned(),
        text: text.to_owned(),
        source: Source::BuiltIn { id, options },
    })
}

fn words(text: &str, part: &str, what: &str) -> Result<Vec<String>, Problem> {
    match shlex::split(part) {
        Some(words) if !words.is_empty() => Ok(words),
        Some(_) => Err(Problem::new(format!(
            "contender {text:?} lacks {what}; write NAME=COMMAND or ID:OPTIONS"
        ))),
        None => {
            Err(Problem::new(format!("contender {text:?} has a quote that does not end; close it")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_follow_a_colon_and_the_whole_text_is_the_label() {
        let beam = parse("beam:+sbwt none").unwrap();
        assert_eq!(beam.label, "beam:+sbwt none");
        let options = ["+sbwt", "none"].map(String::from).to_vec();
        assert_eq!(beam.source, Source::BuiltIn { id: "beam", options });
    }

    #[test]
    fn commas_separate_contenders_but_not_inside_a_command() {
        assert_eq!(pieces("purlin, beam:+S 2:2,tokio"), ["purlin", "beam:+S 2:2", "tokio"]);
        assert_eq!(pieces("tokio,mine=run --with a,b"), ["tokio", "mine=run --with a,b"]);
        assert_eq!(pieces("beam:-env A=1,tokio"), ["beam:-env A=1", "tokio"]);
        assert_eq!(pieces("go:GOMAXPROCS=1,tokio"), ["go:GOMAXPROCS=1", "tokio"]);
    }

    #[test]
    fn contenders_with_options_take_part_by_default_after_those_without() {
        for text in WITH_OPTIONS {
            let contender = parse(text).unwrap();
            assert_eq!(contender.label, text);
            assert!(BUILT_IN.iter().any(|(id, _)| *id == contender.kind()), "{text}");
        }
    }

    #[test]
    fn a_command_is_split_as_a_shell_would() {
        let mine = parse("mine=python3 'my file.py' -x").unwrap();
        assert_eq!(mine.label, "mine");
        assert_eq!(
            mine.source,
            Source::Own(["python3", "my file.py", "-x"].map(String::from).to_vec())
        );
    }

    #[test]
    fn known_runtime_without_a_contender_is_refused_with_instructions_that_work() {
        let refused = parse("ergo").unwrap_err().to_string();
        assert!(refused.starts_with("contender ergo: the lab has no contender"), "{refused}");
        assert!(refused.contains("docs/lab/own-runtime.md"), "{refused}");
        assert_eq!(parse("ergo=./ergo").unwrap().label, "ergo");
    }

    #[test]
    fn text_that_names_no_contender_is_refused() {
        for text in ["haskell", "", "=python3", "mine=", "mine='", "beam:'"] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
