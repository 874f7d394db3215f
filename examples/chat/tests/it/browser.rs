//! The page in Chromium.

use purlin_browser::Browser;
use serde_json::Value;

use crate::support::{Service, kill_room};

static BROWSER: Browser = Browser::new(
    env!("CARGO_TARGET_TMPDIR"),
    "chat",
    &[("scenarios.mjs", include_str!("page/scenarios.mjs"))],
);

#[purlin::test]
async fn two_windows_see_each_other_s_lines_also_after_a_crash_of_the_room() {
    let service = Service::start().await;
    let url = format!("http://{}/", service.address);
    let runtime = tokio::runtime::Handle::current();
    let node = purlin::Node::current().expect("this is a process");
    let operated = tokio::task::spawn_blocking(move || {
        BROWSER.operate("talk", &url, &Value::Null, |wish| {
            assert_eq!(wish, "crash");
            let killed = node.spawn(async |_: purlin::Process<()>| assert!(kill_room(0).await));
            assert_eq!(runtime.block_on(killed.ended()), purlin::ExitReason::Normal);
        });
    });
    operated.await.expect("the scenario passes");
}
