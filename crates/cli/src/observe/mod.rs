//! `purlin observe`: arguments and implementation.
//!
//! It uses the API of the node's page, so it shows the same data and needs the same token.
//!
//! | file | role |
//! |---|---|
//! | `place` | address of the page, and the token |
//! | `ask` | client of the API |
//! | `state` | key handling: sorting, filtering, scrolling |
//! | `lines` | text representation |
//! | `screen` | interactive mode |
//! | `once` | one table, for pipes and scripts |
//! | `figures`, `harmless` | compact numbers; sanitizing of foreign text |

mod ask;
mod figures;
mod harmless;
mod lines;
mod once;
mod place;
mod screen;
mod state;

use std::io::{IsTerminal, stdout};

use clap::Args;
use purlin_lab::error::Problem;

use ask::Observer;
use place::Place;
use state::{Column, State};

use crate::output::print;

const HELP: &str = "\
Examples:
  purlin observe 'http://127.0.0.1:4480/#token=...'
      the address that the node printed, pasted whole; in quotes, because of the #
  PURLIN_OBSERVER_TOKEN=... purlin observe 127.0.0.1:4480
      the same, with the token where ps does not show it
  purlin observe --once --sort mailbox --rows 5 'http://127.0.0.1:4480/#token=...'
      the five longest mailboxes, as one table

Keys:
  q, Esc, Ctrl-C   leaves
  p, Space         pauses and goes on
  s, S             sorts by the next column, or by the one before
  r                turns the order round
  /                shows only processes in whose pid, name, function or type a text occurs;
                   Enter keeps it, Esc takes it back
  arrows, PgUp, PgDn, Home, End

Where standard output is no terminal it prints one table and ends.

Exit status:
  0  it was left, or the table is printed
  2  nobody answers there, the token is wrong, or what was asked cannot be; one line says why";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Observe {
    /// Observe the page at this address and port, or at the URL that the node printed
    #[arg(value_name = "ADDR", default_value = "127.0.0.1:4480")]
    place: String,

    /// Use this token [default: the one in ADDR, or PURLIN_OBSERVER_TOKEN]
    // WHY: one in 64 random tokens begins with a hyphen.
    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true)]
    token: Option<String>,

    /// Print one table and exit
    #[arg(long)]
    once: bool,

    /// Sort by this column
    #[arg(long, value_enum, value_name = "COLUMN", default_value = "reductions")]
    sort: Column,

    /// Sort ascending
    #[arg(long)]
    ascending: bool,

    /// Show only processes whose pid, name, function or type contains this text
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,

    /// Limit the rows of a printed table
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u16).range(1..=500))]
    rows: u16,
}

/// Shows a node interactively, or once. Returns the exit status.
pub(crate) fn observe(asked: Observe) -> Result<u8, Problem> {
    let place = Place::read(&asked.place, asked.token)?;
    let observer = Observer::at(place);
    let state = State::new(asked.sort, !asked.ascending, asked.filter);
    if asked.once || !stdout().is_terminal() {
        print(&once::table(&observer.ask(&state.wish(asked.rows.into()))?))?;
    } else {
        screen::follow(observer, state)?;
    }
    Ok(0)
}
