//! Appends durable messages until it is killed, and prints the number of acknowledged ones after each.
//!
//! `append LOG`; `scripts/power-loss.sh` cuts the power under it.

use std::error::Error;
use std::io::Write as _;

use purlin_log::{Block, Client, Log, Options};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("give the folder of a log")?;
    let options = Options { segment_bytes: 100_000, ..Options::default() };
    let mut log = Log::open(path, options)?;
    let client = Client { id: [1; 16], epoch: 1 };
    let mut id = log.position(client.id)?.map_or(0, |position| position.newest + 1);
    let mut out = std::io::stdout();
    loop {
        let mut messages = Vec::new();
        let first = id;
        while id < first + 1 + first % 40 {
            messages.extend(id.to_le_bytes());
            messages.extend(8_u32.to_le_bytes());
            messages.extend(id.to_le_bytes());
            id += 1;
        }
        let block = Block { client: Some(client), messages: &messages, refused: &[] };
        // A third of the batches waits for the sync of a later one.
        let durable = first % 3 > 0;
        log.commit(&[block], durable)?;
        if durable {
            writeln!(out, "{id}")?;
            out.flush()?;
        }
    }
}
