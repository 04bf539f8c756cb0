//! A line inside the multiplexer, or the bell of the client's terminal.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::OFlags;

use super::subject::Request;
use super::{Held, Notifier, Unshown};
use crate::ctx::Ctx;
use crate::mux;
use crate::proc::facts;
use crate::session::Session;

/// Shows a line where the lane runs.
#[derive(Debug)]
pub(super) struct Line<'a> {
    ctx: &'a Ctx,
}

impl<'a> Line<'a> {
    /// The way to the multiplexer.
    pub(super) fn new(ctx: &'a Ctx) -> Self {
        Line { ctx }
    }

    fn ring(&self, request: &Request) -> Option<()> {
        let session = Session::read(&self.ctx.paths, &request.subject.session)?;
        let terminal = facts::terminal(session.process.filter(|process| process.is_alive()).as_ref()?.pid)?;
        let flags = OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::NOFOLLOW;
        let mut options = std::fs::OpenOptions::new();
        options.write(true).custom_flags(i32::try_from(flags.bits()).ok()?);
        options.open(terminal).ok()?.write_all(b"\x07").ok()
    }
}

impl Notifier for Line<'_> {
    fn show(&mut self, request: &Request) -> Result<Held, Unshown> {
        let subject = &request.subject;
        let of = if subject.repo.is_empty() { String::new() } else { format!(" ({})", subject.repo) };
        let line = format!("{}{of}: {}", subject.title, request.word.text());
        let shown = mux::announce(self.ctx, subject.lane.as_ref(), &line);
        match shown {
            Ok(()) => Ok(Held::No),
            Err(error) => {
                self.ring(request).map(|()| Held::No).ok_or_else(|| Unshown::NotThere(error.to_string()))
            }
        }
    }

    fn take_down(&mut self, _: &Request) -> Result<(), Unshown> {
        Ok(())
    }

    fn let_go(&mut self) {}
}
