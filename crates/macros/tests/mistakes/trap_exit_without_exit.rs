use purlin::server::Mail;
use purlin::Process;

#[derive(Debug)]
struct Keeper;

#[purlin::server]
impl Keeper {
    #[init]
    fn new(me: &mut Process<Mail<Self>>) -> Self {
        me.trap_exit(true);
        Keeper
    }

    #[call]
    fn ping(&self) {}
}

fn main() {}
