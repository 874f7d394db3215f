//! Bad input, probes, and the observer's page.

use std::net::SocketAddr;
use std::process::Command;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

use crate::client::{Any, Client};
use crate::support::{Service, TOKEN};

async fn get(at: SocketAddr, path: &str, more: &str) -> Result<String, Any> {
    let mut stream = TcpStream::connect(at).await?;
    let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{more}\r\n");
    stream.write_all(head.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

#[purlin::test]
async fn a_line_that_cannot_be_taken_gets_an_answer_and_the_connection_stays() -> Result<(), Any> {
    let service = Service::start().await;
    let url = format!("ws://{}/rooms/lobby?who=ann", service.address);
    let (mut socket, _) = tokio_tungstenite::connect_async(url).await?;
    let mut ask = async |frame: String| -> Result<Value, Any> {
        socket.send(Message::text(frame)).await?;
        let answer = socket.next().await.ok_or("it is open")??;
        Ok(serde_json::from_str(answer.to_text()?)?)
    };
    assert!(ask("hello".into()).await?["error"].is_string());
    assert_eq!(ask(json!({"id": 1, "text": ""}).to_string()).await?["nack"], 1);
    assert_eq!(ask(json!({"id": 2, "text": "x".repeat(2001)}).to_string()).await?["nack"], 2);
    let hello = json!({"id": 3, "text": "hello"}).to_string();
    assert_eq!(ask(hello).await?, json!({"ack": 3, "number": 1}));
    Ok(())
}

#[purlin::test]
async fn names_are_bounded_and_the_probes_and_the_observer_answer() -> Result<(), Any> {
    let service = Service::start().await;
    let at = service.address;
    let long = "x".repeat(65);
    assert!(Client::connect(at, &long, "ann").await.is_err());
    assert!(Client::connect(at, "lobby", &long).await.is_err());
    assert!(get(at, "/readyz", "").await?.starts_with("HTTP/1.1 200"));
    assert!(get(at, "/livez", "").await?.starts_with("HTTP/1.1 200"));
    assert!(get(at, "/observer", "").await?.contains("308"));
    assert!(get(at, "/observer/", "").await?.starts_with("HTTP/1.1 200"));
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    assert!(get(at, "/observer/api/about", "").await?.starts_with("HTTP/1.1 401"));
    assert!(get(at, "/observer/api/about", &token).await?.starts_with("HTTP/1.1 200"));
    Ok(())
}

#[purlin::test]
async fn a_restarted_service_continues_the_journal() -> Result<(), Any> {
    let service = Service::start().await;
    let mut ann = Client::connect(service.address, "lobby", "ann").await?;
    assert!(ann.say("before").await?);
    // A client that does not read would delay the stop for as long as draining may take.
    drop(ann);
    service.application.stop().await;
    let node = purlin::Node::current().expect("this is a process");
    let (chat, at) = chat::application(&node, &service.settings)?;
    node.start_application(chat).await?;
    let mut bob = Client::connect(at, "lobby", "bob").await?;
    assert!(bob.say("after").await?);
    bob.hear_all(&[1, 2].into()).await?;
    assert_eq!(bob.acked[0].number, 2);
    Ok(())
}

#[test]
fn a_bad_setting_is_one_line_and_status_2() {
    for more in [&["--port", "0", "--observer-token", "guess"][..], &["--port", "99999"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_chat")).args(more).output();
        let output = output.expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{more:?}: {output:?}");
    }
}
