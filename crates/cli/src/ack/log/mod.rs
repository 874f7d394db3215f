//! `purlin ack log`: inspection and repair of the log that `--handler file` writes.

mod dump;
mod json;
mod settings;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use purlin_ack::handler;
use purlin_lab::error::Problem;
use purlin_log::{Omitted, Segment, Summary};

use self::dump::Dump;
pub(super) use self::settings::LogSettings;
use crate::output::{print, problem};

const VERIFY_HELP: &str = "\
A torn end is what a crash leaves of writes that were never synced. It is reported and is no damage:
the next start of the server cuts it off.

Exit status:
  0  all synced bytes are whole
  1  damaged; each place is printed
  2  the log cannot be read";

const REPAIR_HELP: &str = "\
The source is not changed. Messages keep their numbers, and each range that is left out is printed.
Clients are not asked to send lost messages again: these were acknowledged. If the command is
interrupted, remove NEW and repeat it.

Exit status:
  0  everything that is whole was copied
  2  the source cannot be read, or the target is not empty or cannot be written";

const CONVERT_HELP: &str = "\
The file is not changed. It has no checksums: conversion stops at the first byte that cannot be
part of it. If the command is interrupted, remove NEW and repeat it.

Exit status:
  0  the whole file was converted
  1  conversion stopped before the end of the file; the place is printed
  2  the file cannot be read, or the log has messages or cannot be written";

#[derive(Debug, Subcommand)]
pub(crate) enum Log {
    /// Print the segments, messages and clients of a log
    Info(Inspect),
    /// Check every byte of a log
    #[command(after_help = VERIFY_HELP)]
    Verify(Inspect),
    /// Print the messages of a log as JSON lines or raw
    Dump(Dump),
    /// Copy what is whole in a damaged log to a new log
    #[command(after_help = REPAIR_HELP)]
    Repair(Repair),
    /// Copy the messages of a file of an earlier version to a new log
    #[command(after_help = CONVERT_HELP)]
    Convert(Convert),
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// Folder of the log
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Repair {
    /// Folder of the damaged log
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// Folder of the new log, absent or empty
    #[arg(value_name = "NEW")]
    new: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// File that an earlier version has written
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Folder of the new log, absent or empty
    #[arg(value_name = "NEW")]
    new: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command. Returns the exit status.
pub(crate) fn log(command: &Log) -> Result<u8, Problem> {
    match command {
        Log::Info(options) => info(options),
        Log::Verify(options) => verify(options),
        Log::Dump(options) => dump::dump(options),
        Log::Repair(options) => repair(options),
        Log::Convert(options) => convert(options),
    }
}

fn summary(path: &Path) -> Result<Summary, Problem> {
    let summary = Summary::of(path).map_err(problem)?;
    if summary.segments.is_empty() {
        return Err(no_segments(path));
    }
    Ok(summary)
}

fn no_segments(path: &Path) -> Problem {
    Problem::new(format!("{} has no segments: give the folder of a log", path.display()))
}

fn info(options: &Inspect) -> Result<u8, Problem> {
    let summary = summary(&options.path)?;
    if options.json {
        print(&json::summary(&summary))?;
        return Ok(0);
    }
    let mut text = totals(&summary);
    let Summary { confirmed, next, .. } = summary;
    let _ = writeln!(text, "next message {next}, confirmed up to {confirmed}\n");
    let _ =
        writeln!(text, "{:<24} {:>12} {:>10} {:>12}", "segment", "bytes", "batches", "messages");
    for Segment { name, length, batches, records, .. } in &summary.segments {
        let _ = writeln!(text, "{name:<24} {length:>12} {batches:>10} {records:>12}");
    }
    print(&(text + &findings(&summary)))?;
    Ok(0)
}

fn verify(options: &Inspect) -> Result<u8, Problem> {
    let summary = summary(&options.path)?;
    let whole = if summary.is_whole() { "whole: " } else { "damaged: " };
    print(&match options.json {
        true => json::summary(&summary),
        false => whole.to_owned() + &totals(&summary) + &findings(&summary),
    })?;
    Ok(u8::from(!summary.is_whole()))
}

fn totals(summary: &Summary) -> String {
    format!(
        "{} segments, {} bytes, {} messages, {} clients\n",
        summary.segments.len(),
        summary.bytes(),
        summary.records(),
        summary.clients
    )
}

/// Lists damage, a torn end and damaged checkpoints.
fn findings(summary: &Summary) -> String {
    let mut text = String::new();
    for damage in &summary.damage {
        let _ = writeln!(text, "{damage}");
    }
    if let Some(torn) = &summary.torn {
        let zeros = if torn.zeros { ", all of them zeros" } else { "" };
        let (path, offset, bytes) = (torn.path.display(), torn.offset, torn.bytes);
        let _ = writeln!(text, "{path} has a torn end at byte {offset}: {bytes} bytes{zeros}");
    }
    for name in &summary.damaged_checkpoints {
        let _ = writeln!(text, "the checkpoint {name} is damaged and not used");
    }
    text
}

fn repair(Repair { path, new, json }: &Repair) -> Result<u8, Problem> {
    summary(path)?;
    let repaired = purlin_log::repair(path, new).map_err(problem)?;
    if *json {
        print(&json::repaired(&repaired))?;
        return Ok(0);
    }
    let mut text = format!("copied {} messages to {}\n", repaired.records, new.display());
    for Omitted { path, offset, bytes, what } in &repaired.omitted {
        let path = path.display();
        let _ = writeln!(text, "left out {bytes} bytes of {path} from byte {offset} on: {what}");
    }
    print(&text)?;
    Ok(0)
}

fn convert(Convert { file, new, json }: &Convert) -> Result<u8, Problem> {
    let converted = handler::convert(file, new).map_err(problem)?;
    let status = u8::from(converted.stopped.is_some());
    if *json {
        print(&json::converted(&converted))?;
        return Ok(status);
    }
    let mut text = format!("copied {} messages to {}\n", converted.messages, new.display());
    if let Some(offset) = converted.stopped {
        let file = file.display();
        let _ = writeln!(text, "stopped at byte {offset} of {file}: the rest is no whole message");
    }
    print(&text)?;
    Ok(status)
}
