/*!
A server that is asked to stop.
*/

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use dedust_serve::{ServeError, ServeOptions, Server};

use crate::service::Service;

#[test]
fn requests_are_answered_to_their_end() {
    let service = Service::start();
    let mut connection = service.connect();
    connection
        .write_all(b"POST /v1/normalize HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n11\r\nhttp://a.example\n\r\n")
        .unwrap();
    let mut reader = BufReader::new(connection.try_clone().unwrap());
    let mut line = String::new();
    while line != "http://a.example/\n" {
        line.clear();
        assert!(reader.read_line(&mut line).unwrap() > 0);
    }
    let address = service.address;
    let folder = std::sync::Arc::clone(&service.folder);
    service.stopper.stop();
    // The listener is closed before requests are waited for.
    assert!((0..1_000_000).any(|_| TcpStream::connect(address).is_err()));
    connection.write_all(b"19\r\nhttp://a.example/q?sid=1\n\r\n0\r\n\r\n").unwrap();
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("http://a.example/q\n") && rest.ends_with("0\r\n\r\n"), "{rest:?}");
    service.stop().unwrap();
    drop(folder);
}

#[test]
fn a_port_in_use_is_named() {
    let service = Service::start();
    let mut options = ServeOptions::new(service.rules());
    options.listen = service.address;
    let Err(error) = Server::open(options) else { panic!("two servers on one port") };
    assert!(matches!(error, ServeError::Listen { .. }));
    assert_eq!(error.to_string(), format!("cannot listen on {}", service.address));
}

#[test]
fn only_loopback_unless_asked() {
    let service = Service::start();
    let mut options = ServeOptions::new(service.rules());
    options.listen = ([192, 0, 2, 1], 0).into();
    assert!(matches!(Server::open(options.clone()), Err(ServeError::NotLoopback { .. })));
    options.listen = ([127, 0, 0, 1], 0).into();
    options.token = Some("1234".into());
    assert!(matches!(Server::open(options), Err(ServeError::ShortToken { characters: 4, .. })));
    let folder = tempfile::tempdir().unwrap();
    let mut live = ServeOptions::live(folder.path().join("state"));
    (live.public, live.token) = (true, Some("1234".into()));
    assert!(matches!(Server::open(live), Err(ServeError::ShortToken { .. })), "others can reach the crawl");
}
