//! x
use purlin_differential::{beam::Beam, generate::generate, model, native::Native};
fn main() {
    let n: u64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1000);
    let from: u64 = std::env::args().nth(2).and_then(|s| s.parse().ok()).unwrap_or(0);
    let bound: usize = std::env::args().nth(3).and_then(|s| s.parse().ok()).unwrap_or(20000);
    let mut beam = Beam::start().unwrap();
    let mut native = Native::start(2).unwrap();
    let (mut tb, mut tm, mut tn) = (0.0, 0.0, 0.0);
    let (mut over, mut one, mut bad, mut total) = (0, 0, 0, 0usize);
    let mut seed = from;
    while seed < from + n {
        let ps: Vec<_> =
            (seed..(seed + 100).min(from + n)).map(|s| (generate(s), s as u32)).collect();
        let t = std::time::Instant::now();
        let os = beam.run(&ps).unwrap();
        tb += t.elapsed().as_secs_f64();
        let t = std::time::Instant::now();
        let ns = native.run(&ps);
        tn += t.elapsed().as_secs_f64();
        let t = std::time::Instant::now();
        for ((p, s), (o, na)) in ps.iter().zip(os.into_iter().zip(ns)) {
            let all = model::outcomes(p, model::Runtime::Purlin, bound); let beams = model::outcomes(p, model::Runtime::Beam, bound);
            if let Some(all) = &all {
                total += all.len();
                if all.len() == 1 {
                    one += 1
                }
            }
            for (name, o) in [("BEAM", o), ("purlin", na)] {
                match if name == "BEAM" { &beams } else { &all } {
                    Some(all) => {
                        if !all.contains_key(&o) {
                            bad += 1;
                            if bad < 8 {
                                println!("seed {s}\n{p}{name}:\n{o}model has {}:", all.len());
                                for m in all.keys().take(2) {
                                    println!("{m}");
                                }
                            }
                        }
                    }
                    None => match model::allows(p, if name == "BEAM" { model::Runtime::Beam } else {model::Runtime::Purlin}, &o, bound) {
                        Ok(Some(_)) => {}
                        Ok(None) => {
                            bad += 1;
                            if bad < 8 {
                                println!("seed {s} not allowed\n{p}{name}:\n{o}");
                            }
                        }
                        Err(_) => over += 1,
                    },
                }
            }
        }
        tm += t.elapsed().as_secs_f64();
        seed += 100;
    }
    println!(
        "{n} programs: beam {tb:.2}s native {tn:.2} model {tm:.2}s; over {over} one {one} bad {bad} outcomes {total}"
    );
}
