//! Command lines of the built-in contenders.

use std::ffi::OsString;

use super::find::{CommandLine, Surroundings};
use super::{beam, elixir, go, jvm};
use crate::error::Problem;

impl Surroundings {
    /// Returns the command line of a built-in contender with additional arguments.
    ///
    /// A contender whose source is embedded in the lab is compiled first, unless it is cached.
    pub(super) fn command(&self, id: &str, options: &[String]) -> Result<CommandLine, Problem> {
        let program = |name: &str| {
            self.tool(id, name)
                .ok_or_else(|| Problem::new(format!("{id}: there is no {name} to run it with")))
        };
        let arguments = options.iter().map(OsString::from);
        match id.split_once('@').map_or(id, |(runtime, _)| runtime) {
            "beam" => {
                let erl = program("erl")?;
                let code = beam::compiled(&erl, &program("erlc")?, &self.cache)?;
                Ok(beam::command(erl, &code, arguments))
            }
            "go" => go::command(&program("go")?, &self.cache, options),
            "elixir" => elixir::command(program, &self.cache, options),
            _ if jvm::runs(id) => jvm::command(id, self, arguments),
            _ => Ok(CommandLine {
                program: self.executable(id),
                arguments: arguments.collect(),
                variables: Vec::new(),
            }),
        }
    }
}
