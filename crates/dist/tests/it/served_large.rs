//! Large replies of a typed server, of every form, to concurrent callers on a BEAM.

use crate::processes::beam_and_ours;
use bytes::Bytes;
use purlin_dist::cluster::Serve as _;
use purlin_term::{Binary, Term};
use serde_bytes::ByteBuf;

/// Serves the first bytes of a file.
#[derive(Debug)]
struct File(Bytes);

#[purlin::server(dist)]
impl File {
    #[call]
    fn owned(&self, length: usize) -> ByteBuf {
        ByteBuf::from(&self.0[..length])
    }

    #[call]
    fn shared(&self, length: usize) -> Binary {
        self.0.slice(..length).into()
    }

    #[call]
    fn nested(&self, length: usize) -> (ByteBuf, Binary) {
        (self.owned(length), self.shared(length))
    }

    #[call]
    fn term(&self, length: usize) -> Term {
        let binary = || Term::from(self.shared(length));
        Term::tuple([binary(), binary()])
    }
}

#[tokio::test]
async fn large_replies_arrive_unchanged_between_those_to_other_callers() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    cluster.serves(File::served());
    let bytes = (0..1_000_001u32).map(|at| (at * 31 % 251) as u8).collect::<Vec<_>>();
    let started = cluster.node().start::<File>(File(bytes.into())).name("file").await;
    started.expect("the name is free");
    beam.eval("All = << <<(I * 31 rem 251)>> || I <- lists:seq(0, 1000000) >>").await;
    beam.eval("Call = fun(Q) -> gen_server:call({file, 'ours@127.0.0.1'}, Q, infinity) end").await;
    beam.eval(
        "Is = fun(Form, Length) -> \
             Due = binary:part(All, 0, Length), \
             case Call({Form, Length}) of Due -> true; {Due, Due} -> true; _ -> false end \
         end",
    )
    .await;
    let lengths = "[0, 1, 4095, 4096, 32768, 65000, 65536, 131072, 1000001]";
    let calls = format!(
        "length([spawn_monitor(fun() -> exit({{Form, Length, Is(Form, Length)}}) end) \
            || Form <- [owned, shared, nested, term], Length <- {lengths}, _ <- [1, 2, 3]])"
    );
    assert_eq!(beam.eval(&calls).await, "108");
    let wrong = "[Why || _ <- lists:seq(1, 108), \
                  Why <- [receive {'DOWN', _, process, _, Why} -> Why end], \
                  element(3, Why) =/= true]";
    assert_eq!(beam.eval(wrong).await, "[]");
}
