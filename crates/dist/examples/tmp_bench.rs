use purlin_dist::Flags;
use purlin_dist::control::Control;
use purlin_dist::frame::*;
use purlin_term::*;
use std::time::Instant;
fn main() {
    let n: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let pid = |node: &str, id| Pid { node: Atom::new(node).unwrap(), id, serial: 0, creation: 7 };
    let mut out = Outgoing::new(Flags::OFFERED);
    let mut inc = Incoming::new(Limits::default());
    let mut buf = Vec::new();
    let (mut te, mut td) = (0, 0);
    let mut done = 0;
    while done < n {
        let t = Instant::now();
        for i in 0..1000 {
            let control = Control::SendSender {
                from: pid("rust@127.0.0.1", 7),
                to: pid("beam@127.0.0.1", 9),
                token: None,
            };
            let payload = Term::tuple([Term::atom("work"), Term::from(i)]);
            let _ = out.put(&control.into(), Some(&payload)).unwrap();
        }
        te += t.elapsed().as_nanos();
        out.swap(&mut buf);
        let t = Instant::now();
        let mut rest = &buf[..];
        while let Some((f, used)) = take_frame(rest, 1 << 20).unwrap() {
            std::hint::black_box(inc.take(f).unwrap());
            rest = &rest[used..];
        }
        td += t.elapsed().as_nanos();
        if done == 0 {
            eprintln!("bytes per message {}", buf.len() / 1000);
        }
        buf.clear();
        done += 1000;
    }
    println!("put {} ns, take {} ns", te / u128::from(n), td / u128::from(n));
}
