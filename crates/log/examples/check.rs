//! Opens the log that the example `append` has written, and requires the first COUNT messages, each once
//! and in order.
//!
//! `check LOG COUNT`

use std::error::Error;

use purlin_log::{Log, Options};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [path, count] = &words[..] else { return Err("give a folder and a number".into()) };
    let count: u64 = count.parse()?;
    let mut log = Log::open(path, Options::default())?;
    let cut = log.recovery().cut.as_ref().map_or(0, |torn| torn.bytes);
    let mut reader = log.reader(0)?;
    let mut next = 0;
    while let Some(record) = reader.next()? {
        if record.id != next || record.payload != next.to_le_bytes() {
            return Err(format!("message {next} is {}", record.id).into());
        }
        next += 1;
    }
    if next < count {
        return Err(format!("{count} messages were acknowledged, and {next} are there").into());
    }
    let newest = log.position([1; 16])?.map(|position| position.newest);
    if newest != next.checked_sub(1) {
        return Err(format!("the client gets {newest:?}, and {next} messages are there").into());
    }
    println!("{count} messages acknowledged, {next} there, {cut} bytes cut");
    Ok(())
}
