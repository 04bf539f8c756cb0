//! Waking a holder when word is left for it.

use std::path::Path;
use std::sync::mpsc::Sender;

use super::super::Wake;

/// Sends a wake-up for every change of the file, until it is gone or nobody listens.
#[cfg(target_os = "linux")]
pub(super) fn start(file: &Path, wake: Sender<Wake>) {
    use rustix::fs::inotify;
    let fd = inotify::init(inotify::CreateFlags::CLOEXEC);
    let flags = inotify::WatchFlags::MODIFY | inotify::WatchFlags::DELETE_SELF;
    match fd.and_then(|fd| inotify::add_watch(&fd, file, flags).map(|_| fd)) {
        Ok(fd) => drop(std::thread::spawn(move || {
            let mut events = [0; 4096];
            while rustix::io::read(&fd, &mut events).is_ok() && wake.send(Wake::Word).is_ok() {}
        })),
        Err(error) => {
            tracing::info!("no file events: {error}");
            look_now_and_then(file, wake);
        }
    }
}

/// Sends a wake-up for every change of the file, until it is gone or nobody listens.
#[cfg(not(target_os = "linux"))]
pub(super) fn start(file: &Path, wake: Sender<Wake>) {
    look_now_and_then(file, wake);
}

fn look_now_and_then(file: &Path, wake: Sender<Wake>) {
    let file = file.to_owned();
    let length = move || file.metadata().ok().map(|meta| meta.len());
    let mut before = length();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(std::time::Duration::from_millis(250));
            let now = length();
            if now != before && wake.send(Wake::Word).is_err() {
                return;
            }
            before = now;
        }
    });
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_change_and_the_end_of_the_file_wake() {
        for watch in [start, look_now_and_then] {
            let file = tempfile::NamedTempFile::new().unwrap();
            let (wake, woken) = std::sync::mpsc::channel();
            watch(file.path(), wake);
            file.as_file().write_all(b"x").unwrap();
            let limit = Duration::from_secs(20);
            assert!(matches!(woken.recv_timeout(limit), Ok(Wake::Word)));
            file.close().unwrap();
            assert!(matches!(woken.recv_timeout(limit), Ok(Wake::Word)));
        }
    }
}
