//! Stored result: predictions next to measurements, curves of many senders, and the chart.

use std::fs;

use serde::Serialize;

use crate::chart;
use crate::scheduling::Workers;
use crate::senders::{Curve, SENDERS, curves};
use crate::validation::{Figure, figures};

/// Published run of OTP 25 on two sockets with 32 hardware threads each: signals per second.
/// <https://www.erlang.org/blog/parallel-signal-sending-optimization/>
pub(crate) const PUBLISHED: [(&str, [f64; 7]); 4] = [
    ("send, after", [2.15e6, 2.59e6, 6.39e6, 11.3e6, 19.4e6, 26.9e6, 49.3e6]),
    ("send, before", [2.22e6, 3.07e6, 3.12e6, 1.77e6, 52e3, 72e3, 125e3]),
    ("receive, after", [1.94e6, 3.21e6, 5.81e6, 9.73e6, 9.27e6, 9.48e6, 9.12e6]),
    ("receive, before", [2.12e6, 2.41e6, 2.13e6, 1.89e6, 80e3, 55e3, 142e3]),
];

/// Figures of the stored run of the lab `20261128T184422Z`, on two workers.
const LAB: [(&str, f64); 5] = [
    ("node: ping-pong", 53.0),
    ("node: throughput", 10.7),
    ("node: fan-in of 64", 10.6),
    ("node: fork-join", 62.3),
    ("node: thread-ring", 25.8),
];

/// Figures of the worker loop on a number of simulated workers.
#[derive(Debug, Serialize)]
struct Scheduling {
    workers: usize,
    figures: Vec<Figure>,
    /// Time divided by the perfect time, for turns of 1, 10 and 50 µs.
    computing: [f64; 3],
}

#[derive(Debug, Serialize)]
struct Report {
    what: &'static str,
    measured: Vec<Figure>,
    predicted: Vec<Figure>,
    senders: [u32; 7],
    curves: Vec<Curve>,
    scheduling: Vec<Scheduling>,
}

fn scheduling(workers: Workers) -> Scheduling {
    let times = [
        workers.ping_pong(20_000),
        workers.fan_in(1, 100_000),
        workers.fan_in(64, 4000),
        workers.fork_join(1000, 50),
        workers.ring(500, 50),
    ];
    let figures = LAB.iter().zip(times).map(|((workload, _), nanoseconds)| Figure {
        workload: (*workload).to_string(),
        nanoseconds,
    });
    let computing = [1e3, 1e4, 5e4].map(|time| workers.computing(8 * workers.count, 200, time));
    Scheduling { workers: workers.count, figures: figures.collect(), computing }
}

/// Runs everything and writes `many-cores.json` and `many-cores.svg` to a folder; `measured` is the
/// output of `validate` on real cores. Prints the tables of `docs/internals/many-cores.md`.
pub(crate) fn write(measured: &str, folder: &str) -> Result<(), String> {
    let text = fs::read_to_string(measured)
        .map_err(|error| format!("cannot read '{measured}': {error}"))?;
    let mut measured: Vec<Figure> = serde_json::from_str(&text)
        .map_err(|error| format!("'{measured}' is not an output of validate: {error}"))?;
    let few = [1, 2].map(|count| scheduling(Workers::few(count)));
    let many = [4, 8, 16, 32, 64].map(|count| scheduling(Workers::many(count)));
    measured.extend(
        LAB.map(|(workload, nanoseconds)| Figure { workload: workload.to_string(), nanoseconds }),
    );
    let predicted = [figures(), few[1].figures.clone()].concat();
    let report = Report {
        what: "simulated, except for `measured`",
        measured,
        predicted,
        senders: SENDERS,
        curves: curves(),
        scheduling: few.into_iter().chain(many).collect(),
    };
    print_tables(&report);
    let json = serde_json::to_string_pretty(&report).expect("a report is plain data");
    let save = |name: &str, text: String| {
        let path = format!("{folder}/{name}");
        fs::write(&path, text).map_err(|error| format!("cannot write '{path}': {error}"))
    };
    save("many-cores.json", json + "\n")?;
    save("many-cores.svg", chart::draw(&report.curves))
}

fn print_tables(report: &Report) {
    println!("| workload | measured, ns | predicted, ns | difference |\n|---|--:|--:|--:|");
    for figure in &report.measured {
        let same = |other: &&Figure| other.workload == figure.workload;
        let Some(predicted) = report.predicted.iter().find(same) else { continue };
        let difference = 100.0 * (predicted.nanoseconds / figure.nanoseconds - 1.0);
        println!(
            "| {} | {:.1} | {:.1} | {difference:+.0} % |",
            figure.workload, figure.nanoseconds, predicted.nanoseconds
        );
    }
    println!("\n| queue | 1 | 2 | 4 | 8 | 16 | 32 | 64 |\n|---|--:|--:|--:|--:|--:|--:|--:|");
    for curve in &report.curves {
        for (what, speeds) in [("send", &curve.sent), ("receive", &curve.received)] {
            let cells = speeds.iter().map(|speed| format!(" {:.2} |", speed / 1e6));
            println!("| {}: {what} |{}", curve.queue, cells.collect::<String>());
        }
    }
    println!(
        "\n| workers | ping-pong | throughput | fan-in | fork-join | ring | 1 µs | 10 µs | 50 µs |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for row in &report.scheduling {
        let times = row.figures.iter().map(|figure| format!(" {:.1} |", figure.nanoseconds));
        let factors = row.computing.iter().map(|factor| format!(" {factor:.2} |"));
        println!("| {} |{}{}", row.workers, times.collect::<String>(), factors.collect::<String>());
    }
}
