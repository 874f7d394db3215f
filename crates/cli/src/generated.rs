//! `purlin completions` and `purlin man`: files that are generated from the definition of the arguments.

use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;
use purlin_lab::error::Problem;

use crate::output::print;

const COMPLETIONS_HELP: &str = "\
Examples:
  purlin completions bash > ~/.local/share/bash-completion/completions/purlin
  purlin completions zsh > ~/.zfunc/_purlin
      with fpath+=~/.zfunc before compinit in ~/.zshrc
  purlin completions fish > ~/.config/fish/completions/purlin.fish

Exit status:
  0  the script is printed
  2  invalid arguments";

const MAN_HELP: &str = "\
Examples:
  purlin man ~/.local/share/man/man1
      then: man purlin, man purlin-lab-run

Exit status:
  0  the pages are written
  2  the folder cannot be written";

#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_HELP)]
pub(crate) struct Completions {
    /// Print the script of this shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = MAN_HELP)]
pub(crate) struct Man {
    /// Write the pages to this folder, which is created if needed
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Prints the completion script of this command. Returns the exit status.
pub(crate) fn completions(options: &Completions, mut command: Command) -> Result<u8, Problem> {
    let mut script = Vec::new();
    let name = command.get_name().to_owned();
    clap_complete::generate(options.shell, &mut command, name, &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(0)
}

/// Writes a page of this command and of each of its subcommands. Returns the exit status.
pub(crate) fn man(options: &Man, command: Command) -> Result<u8, Problem> {
    let Man { folder } = options;
    // WHY: a page for `help` of each subcommand would say nothing.
    let command = command.disable_help_subcommand(true);
    fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder)).map_err(
        |error| Problem::new(format!("cannot write pages to {}: {error}", folder.display())),
    )?;
    Ok(0)
}
