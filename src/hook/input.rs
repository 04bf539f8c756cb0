//! Reading what a client sends: one JSON value, never waiting for the end of the input.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::json::Framer;

/// What is read of a payload, in bytes. The fields a hook needs stand at its beginning.
const MAX_PAYLOAD: usize = 1 << 20;

/// How long a client may take to say what it called for. It has it ready when it calls.
const LIMIT: Duration = Duration::from_millis(1500);

const CHUNK: usize = 64 << 10;

/// The first JSON value of an input, or as much of it as came in time.
pub(super) fn read(input: impl AsFd) -> Vec<u8> {
    let deadline = Instant::now() + LIMIT;
    let mut framer = Framer::default();
    let mut bytes = Vec::new();
    while bytes.len() < MAX_PAYLOAD && is_ready(&input, deadline) {
        let start = bytes.len();
        bytes.resize((start + CHUNK).min(MAX_PAYLOAD), 0);
        let count = match rustix::io::read(&input, &mut bytes[start..]) {
            Ok(count) => count,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {
                bytes.truncate(start);
                continue;
            }
            Err(_) => 0,
        };
        bytes.truncate(start + count);
        if count == 0 {
            break;
        }
        if let Some(end) = framer.feed(&bytes[start..]) {
            bytes.truncate(start + end);
            break;
        }
    }
    bytes
}

fn is_ready(input: impl AsFd, deadline: Instant) -> bool {
    let left = deadline.saturating_duration_since(Instant::now());
    let limit = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
    let mut list = [PollFd::new(&input, PollFlags::IN)];
    match poll(&mut list, Some(&limit)) {
        Ok(ready) => ready > 0,
        Err(rustix::io::Errno::INTR) => !left.is_zero(),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn it_does_not_wait_for_the_end_of_the_input() {
        let (mut client, hook) = UnixStream::pair().unwrap();
        client.write_all(b"{\"a\":1}\n").unwrap();
        assert_eq!(read(&hook), b"{\"a\":1}");
    }

    #[test]
    fn a_value_that_comes_in_pieces_is_read_whole() {
        let (mut client, hook) = UnixStream::pair().unwrap();
        let text = format!("{{\"a\":\"{}\"}}", "x".repeat(900_000));
        let sent = text.clone();
        let writer = std::thread::spawn(move || client.write_all(sent.as_bytes()).map(|()| client));
        assert_eq!(read(&hook).len(), text.len());
        writer.join().unwrap().unwrap();
    }

    #[test]
    fn more_than_a_megabyte_is_not_read() {
        let (mut client, hook) = UnixStream::pair().unwrap();
        let writer = std::thread::spawn(move || client.write_all(&vec![b'['; 3 << 20]));
        assert_eq!(read(&hook).len(), MAX_PAYLOAD);
        drop(hook);
        let _ = writer.join();
    }

    #[test]
    fn a_client_that_says_nothing_is_left_alone() {
        let (_client, hook) = UnixStream::pair().unwrap();
        assert!(read(&hook).is_empty());
    }
}
