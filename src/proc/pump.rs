//! Moves bytes to and from a child without threads, until it ends or its time is up.

use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStdin, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Output;

/// How often a child whose pipes stay open is asked whether it has ended.
const TICK: Duration = Duration::from_millis(20);

/// Feeds `input`, takes both outputs and waits. `None` means the deadline passed.
pub(super) fn run(child: &mut Child, input: &[u8], deadline: Option<Instant>, max: usize) -> Option<Output> {
    let mut feeder = Feeder::new(child.stdin.take(), input);
    let mut stdout = Taker::new(child.stdout.take(), max);
    let mut stderr = Taker::new(child.stderr.take(), max);
    while stdout.is_open() || stderr.is_open() {
        let ended = child.try_wait().ok().flatten().is_some();
        wait_ready([feeder.fd(), stdout.fd(), stderr.fd()], if ended { Duration::ZERO } else { TICK });
        feeder.push();
        let moved = stdout.pull() | stderr.pull();
        if ended && !moved {
            break;
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return None;
        }
    }
    drop(feeder);
    let status = wait(child, deadline)?;
    Some(Output { status, stdout: stdout.kept, stderr: stderr.kept })
}

/// Writes all of `bytes` to a child that has its output elsewhere; a child that does not read
/// them before it ends is fine.
pub(super) fn feed(child: &mut Child, bytes: &[u8]) {
    let mut feeder = Feeder::new(child.stdin.take(), bytes);
    while feeder.fd().is_some() && child.try_wait().ok().flatten().is_none() {
        wait_ready([feeder.fd(), None, None], TICK);
        feeder.push();
    }
}

/// Waits for the end with growing naps: a child nearly always ends right after its output.
fn wait(child: &mut Child, deadline: Option<Instant>) -> Option<ExitStatus> {
    let Some(deadline) = deadline else { return child.wait().ok() };
    let mut nap = Duration::from_micros(50);
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if Instant::now() >= deadline {
            return None;
        }
        sleep(nap);
        nap = (nap * 2).min(TICK);
    }
}

fn wait_ready(fds: [Option<(BorrowedFd<'_>, PollFlags)>; 3], limit: Duration) {
    let mut list: Vec<PollFd<'_>> =
        fds.into_iter().flatten().map(|(fd, flags)| PollFd::from_borrowed_fd(fd, flags)).collect();
    let limit = Timespec { tv_sec: 0, tv_nsec: limit.subsec_nanos().into() };
    let _ = poll(&mut list, Some(&limit));
}

fn never_block(fd: impl AsFd) -> bool {
    rustix::io::ioctl_fionbio(fd, true).is_ok()
}

struct Feeder<'a> {
    pipe: Option<ChildStdin>,
    rest: &'a [u8],
}

impl<'a> Feeder<'a> {
    fn new(pipe: Option<ChildStdin>, bytes: &'a [u8]) -> Self {
        Feeder { pipe: pipe.filter(|pipe| never_block(pipe)), rest: bytes }
    }

    fn fd(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        self.pipe.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::OUT))
    }

    /// Writes what fits; closes the pipe at the end or when nobody reads.
    fn push(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        match pipe.write(self.rest) {
            Ok(count) => self.rest = &self.rest[count..],
            Err(error) if retry(&error) => return,
            Err(_) => self.rest = &[],
        }
        if self.rest.is_empty() {
            self.pipe = None;
        }
    }
}

struct Taker<P> {
    pipe: Option<P>,
    kept: Vec<u8>,
    max: usize,
}

impl<P: Read + AsFd> Taker<P> {
    fn new(pipe: Option<P>, max: usize) -> Self {
        Taker { pipe: pipe.filter(|pipe| never_block(pipe)), kept: Vec::new(), max }
    }

    fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    fn fd(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        self.pipe.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN))
    }

    /// Takes what is there; says whether anything moved.
    fn pull(&mut self) -> bool {
        let Some(pipe) = &mut self.pipe else { return false };
        let mut chunk = [0; 16 << 10];
        match pipe.read(&mut chunk) {
            Ok(0) => self.pipe = None,
            Ok(count) => {
                let room = self.max.saturating_sub(self.kept.len()).min(count);
                self.kept.extend_from_slice(&chunk[..room]);
            }
            Err(error) if retry(&error) => return false,
            Err(_) => self.pipe = None,
        }
        true
    }
}

fn retry(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted)
}
