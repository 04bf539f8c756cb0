//! Banners of macOS. A click on one leads to whoever macOS takes for its sender, so nothing is
//! promised for it and nobody waits.

use std::sync::mpsc::Sender;

use crate::env::Env;
use crate::notify::subject::Request;
use crate::notify::{Held, Notifier, Unshown, Wake};

/// The notification center.
#[derive(Debug)]
pub(in crate::notify) struct Desktop;

impl Desktop {
    /// The notification center.
    pub(in crate::notify) fn new(_: &Env, _: Sender<Wake>, _: u32) -> Self {
        Desktop
    }
}

impl Notifier for Desktop {
    fn show(&mut self, request: &Request) -> Result<Held, Unshown> {
        let subject = &request.subject;
        let of = if subject.repo.is_empty() { String::new() } else { format!("{}: ", subject.repo) };
        let body = format!("{of}{}", request.word.text());
        let shown = notify_rust::Notification::new().summary(&subject.title).body(&body).show();
        shown.map(|_| Held::No).map_err(|error| Unshown::Failed(error.to_string()))
    }

    fn take_down(&mut self, _: &Request) -> Result<(), Unshown> {
        Ok(())
    }

    fn let_go(&mut self) {}
}
