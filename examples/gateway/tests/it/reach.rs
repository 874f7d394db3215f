//! The store comes and goes.

use crate::support::Place;

#[test]
fn clients_hear_when_the_store_is_lost_and_back_and_requests_without_it_are_refused() {
    let place = Place::new();
    let gateway = place.gateway(&["--request-timeout", "60", "--idle-timeout", "3600"]);
    let mut client = gateway.client();
    assert!(!client.is_up, "there is not even an epmd");
    let refused = Some("REFUSED the store is away: wait for UP");
    assert_eq!(client.ask("PUT a 1").as_deref(), refused);
    assert_eq!(client.ask("PING").as_deref(), Some("PONG"));

    let _epmd = place.epmd();
    let mut beam = place.beam();
    client.wait(true, 0);
    assert_eq!(client.ask("GET a").as_deref(), Some("NONE"));
    assert_eq!(client.ask("PUT a 1 and more").as_deref(), Some("OK"));
    assert_eq!(client.ask("GET a").as_deref(), Some("VALUE 1 and more"));

    beam.end();
    client.wait(false, 1);
    assert_eq!(client.ask("GET a").as_deref(), refused);
    let _beam = place.beam();
    client.wait(true, 1);
    assert_eq!(client.ask("GET a").as_deref(), Some("VALUE 1 and more"));
    let late = gateway.client_up();
    assert_eq!(late.losses, 0);
}
