//! The holder's life: shows what it is told to, waits for the click, and leaves when the banner
//! is gone or its hour is over.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use super::pidfile::PidFile;
use super::queue::Queue;
use super::{Files, watch};
use crate::config::Notifier as Way;
use crate::ctx::Ctx;
use crate::error::Result;
use crate::lock::Lock;
use crate::notify::desktop::Desktop;
use crate::notify::mux::Line;
use crate::notify::subject::{Request, Word};
use crate::notify::trill::Trill;
use crate::notify::{Held, Notifier, Unshown, Wake, attention, markers, recheck};
use crate::proc::{self, Cmd};

/// How long a banner is held.
const LIFE: Duration = Duration::from_hours(1);

/// How often the client of a question is asked whether it still asks.
const RECHECK: Duration = Duration::from_secs(5);

/// How long anything a holder does may take, going to the lane after a click included.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long a holder waits for others that show a banner. A service that is asked for fifty at once
/// answers none in time.
const TURN_LIMIT: Duration = Duration::from_secs(20);

/// How long going to a lane may take.
const FOCUS_LIMIT: Duration = Duration::from_secs(15);

/// How long a holder waits for hooks that write.
const LOCK_LIMIT: Duration = Duration::from_secs(5);

/// Until when a holder must show that it still gets on.
#[derive(Clone, Debug)]
pub struct Alive(Arc<(Instant, AtomicU64)>);

impl Default for Alive {
    fn default() -> Self {
        let alive = Alive(Arc::new((Instant::now(), AtomicU64::new(0))));
        alive.until(Instant::now());
        alive
    }
}

impl Alive {
    /// How long there is to wait until it counts as stuck.
    pub fn left(&self) -> Duration {
        let until = Duration::from_millis(self.0.1.load(Ordering::Relaxed));
        until.saturating_sub(self.0.0.elapsed())
    }

    fn until(&self, next: Instant) {
        let until = next.saturating_duration_since(self.0.0) + PATIENCE;
        self.0.1.store(u64::try_from(until.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

/// A banner that is up.
struct Up<'a> {
    by: Box<dyn Notifier + 'a>,
    request: Request,
    /// Which of the banners of this holder it is.
    serial: u32,
    until: Instant,
    recheck: Instant,
}

/// A banner that waits for the person to see by themselves.
struct Due {
    request: Request,
    at: Instant,
}

struct Holder<'a> {
    ctx: &'a Ctx,
    queue: Queue,
    wake: Sender<Wake>,
    up: Option<Up<'a>>,
    serial: u32,
    due: Option<Due>,
    alive: Alive,
}

/// Holds the banner with this id, unless somebody else does.
pub fn run(ctx: &Ctx, id: &str, alive: Alive) -> Result<()> {
    let files = Files::of(&ctx.paths, id);
    let pidfile = {
        let _lock = lock(ctx, id)?;
        PidFile::take(&files.pid)?
    };
    let Some(pidfile) = pidfile else { return Ok(()) };
    let (wake, woken) = channel();
    watch::start(&files.queue, wake.clone());
    let queue = Queue::open(files.queue.clone());
    let mut holder = Holder { ctx, queue, wake, up: None, serial: 0, due: None, alive };
    holder.live(&woken);
    while !holder.leave(id, &files)? {
        holder.live(&woken);
    }
    drop(pidfile);
    Ok(())
}

fn lock(ctx: &Ctx, id: &str) -> Result<Lock> {
    Lock::acquire(&markers::lock_path(&ctx.paths, id), LOCK_LIMIT, "banner", |_| ())
}

impl<'a> Holder<'a> {
    /// Until there is nothing to hold.
    fn live(&mut self, woken: &Receiver<Wake>) {
        loop {
            self.alive.until(Instant::now());
            for request in self.queue.take() {
                self.obey(request);
            }
            self.show_due();
            let Some(next) = self.next() else { return };
            self.alive.until(next);
            let waited = woken.recv_timeout(next.saturating_duration_since(Instant::now()));
            self.alive.until(Instant::now());
            match waited {
                Ok(Wake::Word) if self.queue.is_gone() => self.give_up(),
                Ok(Wake::Clicked(serial, token)) if self.is_up(serial) => self.go(token.as_deref()),
                Ok(Wake::Closed(serial)) if self.is_up(serial) => self.up = None,
                // Word is read next; the rest is about banners that are no more.
                Ok(_) | Err(_) => {}
            }
            self.look_after();
        }
    }

    fn is_up(&self, serial: u32) -> bool {
        self.up.as_ref().is_some_and(|up| up.serial == serial)
    }

    /// When to look again; `None` when there is nothing to wait for.
    fn next(&self) -> Option<Instant> {
        let look = |up: &Up<'_>| (up.request.word == Word::Ask).then_some(up.recheck);
        let up = self.up.as_ref().map(|up| look(up).map_or(up.until, |at| at.min(up.until)));
        up.into_iter().chain(self.due.as_ref().map(|due| due.at)).min()
    }

    /// Leaves, unless word has come meanwhile: whoever left it saw this holder alive.
    fn leave(&mut self, id: &str, files: &Files) -> Result<bool> {
        let _lock = lock(self.ctx, id)?;
        if !self.queue.is_read() {
            return Ok(false);
        }
        self.queue.remove();
        let _ = std::fs::remove_file(&files.pid);
        if files.log.metadata().is_ok_and(|meta| meta.len() == 0) {
            let _ = std::fs::remove_file(&files.log);
        }
        Ok(true)
    }

    fn obey(&mut self, request: Request) {
        self.due = None;
        if request.word == Word::Down {
            self.resolve(&request);
            return;
        }
        let delay = self.ctx.config().notify.delay;
        if delay.is_zero() {
            self.show(request);
        } else {
            self.due = Some(Due { request, at: Instant::now() + delay });
        }
    }

    fn show_due(&mut self) {
        let Some(due) = self.due.take_if(|due| due.at <= Instant::now()) else { return };
        let subject = &due.request.subject;
        if !attention::is_watched_now(self.ctx, subject) {
            self.show(due.request);
        }
    }

    /// Shows a banner in place of the one that is up, or by the first way that is there.
    fn show(&mut self, request: Request) {
        let turn = self.ctx.paths.locks().join("banners.lock");
        let _turn = Lock::acquire(&turn, TURN_LIMIT, "banner", |_| ());
        if let Some(mut up) = self.up.take() {
            match up.by.show(&request) {
                Ok(held) => return self.hold(up.by, request, held, up.serial),
                Err(unshown) => tracing::warn!(?unshown, "a banner could not be replaced"),
            }
        }
        self.serial += 1;
        for mut by in ways(self.ctx, &self.wake, self.serial) {
            match by.show(&request) {
                Ok(held) => return self.hold(by, request, held, self.serial),
                Err(Unshown::NotThere(why)) => tracing::info!(why, "no banner this way"),
                Err(Unshown::Failed(why)) => return tracing::warn!(why, "a banner could not be shown"),
            }
        }
    }

    fn hold(&mut self, by: Box<dyn Notifier + 'a>, request: Request, held: Held, serial: u32) {
        let now = Instant::now();
        let up = Up { by, request, serial, until: now + LIFE, recheck: now + RECHECK };
        self.up = (held == Held::Yes).then_some(up);
    }

    /// Takes the banner down, also one that an earlier holder left to trill.
    fn resolve(&mut self, request: &Request) {
        let mut by = match self.up.take() {
            Some(up) => up.by,
            None if self.ctx.config().notify.backends.contains(&Way::Trill) => Box::new(Trill::new(self.ctx)),
            None => return,
        };
        if let Err(Unshown::Failed(why)) = by.take_down(request) {
            tracing::info!(why, "a banner could not be taken down");
        }
    }

    /// The banner was clicked: brings the lane in front of the person, wherever they are.
    fn go(&mut self, token: Option<&str>) {
        let Some(up) = self.up.take() else { return };
        let down = Request { word: Word::Down, ..up.request.clone() };
        self.up = Some(up);
        self.resolve(&down);
        let Some(target) = down.subject.target else { return };
        let Ok(own) = proc::own_program() else { return };
        let mut cmd = Cmd::new(own).args(["focus", "--exact", "--", &target]).env_exactly(&self.ctx.env);
        for place in ["TMUX", "TMUX_PANE", "WEZTERM_PANE"] {
            cmd = cmd.env_remove(place);
        }
        if let Some(token) = token {
            cmd = cmd.env("XDG_ACTIVATION_TOKEN", token);
        }
        match cmd.cwd(&self.ctx.paths.home).limit(FOCUS_LIMIT).run() {
            Ok(output) if output.ok() => {}
            Ok(output) => tracing::warn!(target, complaint = output.complaint(), "the click led nowhere"),
            Err(failure) => tracing::warn!(target, %failure, "the click led nowhere"),
        }
    }

    /// Takes down what is too old, and what the client says is no question any more.
    fn look_after(&mut self) {
        let now = Instant::now();
        let Some(up) = &mut self.up else { return };
        if up.until <= now {
            return self.give_up();
        }
        if up.recheck <= now && up.request.word == Word::Ask {
            up.recheck = now + RECHECK;
            recheck::subject(self.ctx, &up.request.subject);
        }
    }

    fn give_up(&mut self) {
        if let Some(mut up) = self.up.take() {
            up.by.let_go();
        }
        self.due = None;
    }
}

/// The ways there are, in the order that is configured.
fn ways<'a>(
    ctx: &'a Ctx,
    wake: &Sender<Wake>,
    serial: u32,
) -> impl Iterator<Item = Box<dyn Notifier + 'a>> + use<'a> {
    let wake = wake.clone();
    let configured = ctx.config().notify.backends.iter();
    configured.map(move |way| -> Box<dyn Notifier + 'a> {
        match way {
            Way::Trill => Box::new(Trill::new(ctx)),
            Way::Desktop => Box::new(Desktop::new(&ctx.env, wake.clone(), serial)),
            Way::Mux => Box::new(Line::new(ctx)),
        }
    })
}
