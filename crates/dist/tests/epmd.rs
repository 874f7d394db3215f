//! A real epmd: names are kept in it, found in it, and registered again when it comes back.

mod support;

use purlin_dist::epmd::{self, Alive, Failed, Kind, Registration};
use support::{Beam, Epmd, Ours, free_port};

fn alive(name: &str) -> Alive {
    Alive { alive: name.to_owned(), port: 4711, kind: Kind::Hidden }
}

#[tokio::test]
async fn a_name_is_found_with_its_port_as_long_as_it_is_held() {
    let epmd = Epmd::start();
    let registration = Registration::new(epmd.ask(), alive("shop")).await.expect("it is free");
    assert_ne!(registration.creation(), 0);
    let found = epmd.ask().find("shop").await.expect("epmd answers").expect("it is there");
    assert_eq!((found.port, found.kind, found.speaks_ours()), (4711, Kind::Hidden, true));
    assert_eq!(epmd.ask().find("shed").await.expect("epmd answers"), None);
    assert_eq!(epmd.ask().names().await.expect("epmd answers"), [("shop".to_owned(), 4711)]);

    let taken = Registration::new(epmd.ask(), alive("shop")).await;
    assert!(matches!(taken, Err(Failed::Taken(name)) if name == "shop"));
    drop(registration);
    while epmd.ask().find("shop").await.expect("epmd answers").is_some() {}
    Registration::new(epmd.ask(), alive("shop")).await.expect("it is free again");
}

#[tokio::test]
async fn a_name_is_registered_again_when_epmd_comes_back() {
    let first = Epmd::start();
    let port = first.port;
    let registration = Registration::new(first.ask(), alive("shop")).await.expect("it is free");
    let creation = registration.creation();
    drop(first);
    let second = Epmd::start_on(port);
    while second.ask().find("shop").await.expect("epmd answers").is_none() {}
    assert_eq!(registration.creation(), creation);
}

#[tokio::test]
async fn where_there_is_no_epmd_it_is_said_so() {
    let nowhere = epmd::Epmd::at(([127, 0, 0, 1], free_port()).into());
    let failed = nowhere.find("shop").await.expect_err("nobody is there");
    assert!(failed.to_string().starts_with("no epmd at 127.0.0.1:"), "{failed}");
}

#[tokio::test]
async fn a_beam_finds_us_and_we_find_it() {
    let epmd = Epmd::start();
    let _ours = Ours::start(&epmd, "ours").await;
    let mut beam = Beam::start(&epmd, "beam").await;
    let found = epmd.ask().find("beam").await.expect("epmd answers").expect("it is there");
    assert_eq!(found.kind, Kind::Normal);
    let names =
        beam.eval("{ok, Names} = erl_epmd:names(), lists:sort([N || {N, _} <- Names])").await;
    assert_eq!(names, r#"["beam","ours"]"#);
}
