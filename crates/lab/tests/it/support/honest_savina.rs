//! Answers of a valid contender to the Savina experiments and `spread`.

use serde_json::{Value, json};

const MODULUS: u64 = 1 << 31;

/// Returns operations, events at each end, time in ns and additional fields; `None` for other experiments.
pub(crate) fn answer(
    experiment: &str,
    asked: impl Fn(&str) -> Option<u64>,
) -> Option<(u64, u64, u64, Value)> {
    let of = |name: &str| asked(name).unwrap_or(0);
    let (n, reps) = (of("n"), asked("reps").unwrap_or(1));
    let (ops, messages, more) = match experiment {
        "banking" => (n * reps, 4 * n * reps, json!({"sum": of("accounts") * 1_000_000 * reps})),
        "bounded-buffer" => {
            let mut item = worked(1, of("cost"));
            let mut each = 0;
            for _ in 0..n {
                item = worked(item, of("cost"));
                each = (each + item) % MODULUS;
            }
            let items = of("producers") * n;
            (items, items, json!({"sink": of("producers") * each % MODULUS}))
        }
        "chameneos" => (n, 2 * n, json!({})),
        "dictionary" => {
            let all = of("workers") * n;
            let writes: u64 =
                (0..of("workers")).map(|worker| writes(worker, of("writes"), n)).sum();
            (all, 2 * all, json!({"writes": writes}))
        }
        "logistic-map" => {
            let last = |i: u64| {
                let (rate, mut x) = ((1384.0 + i as f64) / 400.0, (1.0 + i as f64) / 400.0);
                for _ in 0..of("terms") {
                    x = rate * x * (1.0 - x);
                }
                (x * 1e9) as u64
            };
            let all = of("series") * of("terms") * reps;
            let sum: u64 = (0..of("series")).map(last).sum();
            (all, 3 * all, json!({"sum": sum * reps}))
        }
        "philosophers" => {
            let meals = of("philosophers") * n;
            (meals, meals, json!({"denied": meals / 4}))
        }
        "sieve" => {
            let primes = match n {
                20_000 => 2262,
                100_000 => 9592,
                _ => return None,
            };
            let candidates = (n - 1) / 2 * reps;
            (candidates, candidates, json!({"primes": primes * reps}))
        }
        "big" => (of("processes") * n, 2 * of("processes") * n, json!({})),
        "spread" => {
            let (all, steps) = (of("processes") * n, 10 * of("us"));
            let sink = of("processes") * worked(1, n * steps);
            let more = json!({"steps": steps, "calibration_ns": 20_000_000, "sink": sink});
            return Some((all, 2 * all, 1000 * all * of("us"), more));
        }
        _ => return None,
    };
    Some((ops, messages, 100 * ops, more))
}

fn worked(x: u64, steps: u64) -> u64 {
    (0..steps).fold(x, |x, _| (x * 20_077 + 12_345) % MODULUS)
}

fn writes(worker: u64, percent: u64, n: u64) -> u64 {
    let mut x = (1_073_741_789 * worker + 1) % MODULUS;
    let mut draw = |k: u64| {
        x = (20_077 * x + 12_345) % MODULUS;
        k * x / MODULUS
    };
    let mut writes = 0;
    for _ in 0..n {
        let written = u64::from(draw(100) < percent);
        draw(65_536);
        if written == 1 {
            draw(1000);
        }
        writes += written;
    }
    writes
}
