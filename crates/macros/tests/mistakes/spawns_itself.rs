use purlin::{Process, spawn};

async fn folder(_me: Process<()>, depth: u32) {
    if depth > 0 {
        spawn(move |me| folder(me, depth - 1)).ended().await;
    }
}

fn main() {
    spawn(|me| folder(me, 3));
}
