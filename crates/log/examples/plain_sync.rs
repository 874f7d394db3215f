//! Writes as many batches as a log has, of their average size, to a plain file with one sync for each:
//! what the disk can do at best. `scripts/durable-rate.sh` runs it.
//!
//! `plain_sync LOG FILE`, where FILE does not exist.

use std::error::Error;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::time::Instant;

use purlin_log::Summary;

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [log, file] = &paths[..] else {
        return Err("give the folder of a log, and the name of a new file".into());
    };
    let log = Summary::of(log)?;
    let batches: u64 = log.segments.iter().map(|segment| segment.batches).sum();
    let mut batch = vec![0; usize::try_from(log.bytes() / batches.max(1))?];
    // WHY random bytes: a disk may store zeros faster.
    File::open("/dev/urandom")?.read_exact(&mut batch)?;
    let mut file = File::create_new(file)?;
    let began = Instant::now();
    for _ in 0..batches {
        file.write_all(&batch)?;
        file.sync_data()?;
    }
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "plain program: {:.0} messages per second in {batches} batches of {} bytes, {:.0} syncs per second",
        log.records() as f64 / seconds,
        batch.len(),
        batches as f64 / seconds,
    );
    Ok(())
}
