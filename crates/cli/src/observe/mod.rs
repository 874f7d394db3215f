//! `purlin observe`: arguments and implementation.
//!
//! It uses the API of the node's page, so it shows the same data and needs the same token.
//!
//! | file | role |
//! |---|---|
//! | `page` | address of the page, and the token |
//! | `ask` | client of the API |
//! | `state` | key handling: sorting, filtering, scrolling |
//! | `lines` | text representation |
//! | `screen` | interactive mode |
//! | `once` | one table, for pipes and scripts |
//! | `figures`, `harmless` | compact durations; sanitizing of foreign text |

mod ask;
mod figures;
mod harmless;
mod lines;
mod once;
mod page;
mod screen;
mod state;

use std::io::{IsTerminal, stdout};

use clap::Args;
use purlin_lab::error::Problem;

use ask::Observer;
use page::Page;
use state::{Column, State};

use crate::output::print;

const HELP: &str = "\
Examples:
  purlin observe 'http://127.0.0.1:4480/#token=...'
      the URL that the node printed, in quotes because of the #
  PURLIN_OBSERVER_TOKEN=... purlin observe 127.0.0.1:4480
      the same, with the token in the environment, which ps does not show
  purlin observe --once --sort mailbox --rows 5 'http://127.0.0.1:4480/#token=...'
      the five longest mailboxes as a table
  purlin observe --json 127.0.0.1:4480 | jq '.warnings[].text'
      for a script

Keys:
  q, Esc, Ctrl-C   quit
  p, Space         pause and resume
  s, S             sort by the next or the previous column
  r                reverse the order
  /                filter processes by a text in the pid, name, function or type;
                   Enter applies the filter, Esc restores the previous one
  arrows, PgUp, PgDn, Home, End
                   scroll

If standard output is not a terminal, the command prints one table and exits.

Exit status:
  0    quit by a key, or the table or the snapshot is printed
  2    no node answers at the address, the token is wrong, or the arguments are invalid
  130  ended by a signal";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Observe {
    /// Observe the page at this address and port, or at the URL that the node printed
    #[arg(value_name = "ADDR", default_value = "127.0.0.1:4480")]
    address: String,

    /// Use this token [default: the one in ADDR, or PURLIN_OBSERVER_TOKEN]
    // WHY: one in 64 random tokens begins with a hyphen.
    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true)]
    token: Option<String>,

    /// Print one table and exit
    #[arg(long)]
    once: bool,

    /// Print one snapshot as JSON and exit, in the fields of the node's API
    #[arg(long)]
    json: bool,

    /// Sort by this column
    #[arg(long, value_enum, value_name = "COLUMN", default_value = "reductions")]
    sort: Column,

    /// Sort ascending
    #[arg(long)]
    ascending: bool,

    /// Show only processes whose pid, name, function or type contains this text
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,

    /// Limit the processes that are printed
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u16).range(1..=500))]
    rows: u16,
}

/// Shows a node interactively, or once. Returns the exit status.
pub(crate) fn observe(options: Observe) -> Result<u8, Problem> {
    let observer = Observer::at(Page::read(&options.address, options.token)?);
    let state = State::new(options.sort, !options.ascending, options.filter);
    let query = state.query(options.rows.into());
    if options.json {
        print(&format!("{:#}\n", observer.ask_raw(&query)?))?;
    } else if options.once || !stdout().is_terminal() {
        print(&once::table(&observer.ask(&query)?))?;
    } else {
        return screen::follow(observer, state);
    }
    Ok(0)
}
