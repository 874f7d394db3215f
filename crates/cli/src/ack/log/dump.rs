//! `purlin ack log dump`: messages as JSON lines or raw.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use purlin_lab::error::Problem;
use purlin_log::{Error, Reader, Record, Summary};
use serde_json::json;

use super::no_segments;
use crate::output::{print_error, problem};
use crate::values::large_count;

const HELP: &str = "\
Fields of a line:
  sequence  number of the message in the log
  time      milliseconds since 1970
  client    identifier in hexadecimal, and epoch; absent without a session
  id        the client's number of the message
  payload   in base64; with --text as text, where it is valid UTF-8

Exit status:
  0  all messages were printed
  1  the log is damaged; the messages before the first damage were printed
  2  the log cannot be read";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Dump {
    /// Folder of the log
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// Start at the message of this number
    #[arg(long, value_name = "N", default_value = "0")]
    from: u64,

    /// Start at the first message that is not confirmed, and confirm what was printed; a server with
    /// --keep-unconfirmed may then remove it
    #[arg(long, conflicts_with = "from")]
    confirm: bool,

    /// Print at most this many messages
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = large_count)]
    count: Option<u64>,

    /// Print payloads that are valid UTF-8 as text
    #[arg(long)]
    text: bool,

    /// Print the messages as they were received: id, little-endian size, payload
    #[arg(long, conflicts_with = "text")]
    raw: bool,
}

/// Runs the command. Returns the exit status.
pub(super) fn dump(options: &Dump) -> Result<u8, Problem> {
    let mut reader = Reader::open(&options.path, options.from).map_err(problem)?;
    if !reader.has_segments() {
        return Err(no_segments(&options.path));
    }
    if options.confirm {
        let confirmed = reader.confirmed().map_err(problem)?;
        reader = Reader::open(&options.path, confirmed).map_err(problem)?;
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let mut left = options.count.unwrap_or(u64::MAX);
    let mut printed = None;
    let mut status = 0;
    while left > 0 {
        let record = match reader.next() {
            Ok(Some(record)) => record,
            Ok(None) => {
                if reader.rest().is_some()
                    && let Some(damage) =
                        Summary::of(&options.path).map_err(problem)?.damage.first()
                {
                    print_error(&format!("purlin: {}", problem(damage)));
                    status = 1;
                }
                break;
            }
            Err(error @ Error::Damaged(_)) => {
                print_error(&format!("purlin: {}", problem(error)));
                status = 1;
                break;
            }
            Err(error) => return Err(problem(error)),
        };
        left -= 1;
        printed = Some(record.sequence + 1);
        if !written(write(&mut out, &record, options))? {
            return Ok(status);
        }
    }
    if written(out.flush())?
        && options.confirm
        && let Some(printed) = printed
    {
        reader.confirm(printed).map_err(problem)?;
    }
    Ok(status)
}

/// Returns whether the output was taken: false if the pipe is closed.
fn written(result: io::Result<()>) -> Result<bool, Problem> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Problem::new(format!("cannot write to standard output: {error}"))),
    }
}

fn write(out: &mut impl Write, record: &Record, options: &Dump) -> io::Result<()> {
    let Record { sequence, time, client, id, payload } = record;
    if options.raw {
        out.write_all(&id.to_le_bytes())?;
        out.write_all(&(payload.len() as u32).to_le_bytes())?;
        return out.write_all(payload);
    }
    let mut line = json!({ "sequence": sequence, "time": time, "id": id });
    if let Some(client) = client {
        let hexadecimal = client.id.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        line["client"] = hexadecimal.into();
        line["epoch"] = client.epoch.into();
    }
    match str::from_utf8(payload) {
        Ok(text) if options.text => line["text"] = text.into(),
        _ => line["payload"] = STANDARD.encode(payload).into(),
    }
    writeln!(out, "{line}")
}
