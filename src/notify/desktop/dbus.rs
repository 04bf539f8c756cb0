//! The notification service of a freedesktop: banners on the session's message bus.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use zbus::blocking::Connection;
use zbus::blocking::connection::Builder;
use zbus::zvariant::Value;

use super::signals;
use crate::env::Env;
use crate::notify::subject::{Request, Subject, Word};
use crate::notify::{Held, Notifier, Unshown, Wake};

/// The service, its object and its interface.
pub(super) const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

/// What the one action is called that a click anywhere on a banner means.
pub(super) const ACTION: &str = "default";

/// How long bus and service may take to answer.
const LIMIT: Duration = Duration::from_secs(5);

/// A banner's time: as long as it isn't taken down, or as long as the desktop likes.
const NEVER: i32 = 0;
const AS_USUAL: i32 = -1;

/// One banner of the desktop's.
#[derive(Debug)]
pub(in crate::notify) struct Desktop {
    address: String,
    wake: Sender<Wake>,
    serial: u32,
    reached: Option<Reached>,
}

/// The service, reached.
#[derive(Debug)]
struct Reached {
    connection: Connection,
    abilities: Vec<String>,
    /// The banner that is up; 0 for none.
    id: Arc<AtomicU32>,
}

impl Desktop {
    /// The desktop that this environment is in. What becomes of the banner is sent to `wake`.
    pub(in crate::notify) fn new(env: &Env, wake: Sender<Wake>, serial: u32) -> Self {
        Desktop { address: address(env), wake, serial, reached: None }
    }

    /// Connects, and listens before anything is shown, so that no word is missed.
    fn reach(&self) -> Result<Reached, Unshown> {
        let connection = connect(self.address.clone())?;
        let abilities = call(&connection, "GetCapabilities", &())?;
        let id = Arc::new(AtomicU32::new(0));
        signals::listen(&connection, Arc::clone(&id), self.serial, self.wake.clone())
            .map_err(|error| unshown(&error))?;
        Ok(Reached { connection, abilities, id })
    }
}

impl Notifier for Desktop {
    fn show(&mut self, request: &Request) -> Result<Held, Unshown> {
        let reached = match self.reached.take() {
            Some(reached) => reached,
            None => self.reach()?,
        };
        let id = notify(&reached, request)?;
        reached.id.store(id, Ordering::Release);
        self.reached = Some(reached);
        Ok(Held::Yes)
    }

    fn take_down(&mut self, _: &Request) -> Result<(), Unshown> {
        let Some(reached) = self.reached.take() else { return Ok(()) };
        let closed =
            call::<()>(&reached.connection, "CloseNotification", &reached.id.load(Ordering::Acquire));
        let _ = reached.connection.close();
        closed
    }

    fn let_go(&mut self) {
        if let Some(reached) = self.reached.take() {
            let id = reached.id.load(Ordering::Acquire);
            let _: Result<(), Unshown> = call(&reached.connection, "CloseNotification", &id);
        }
    }
}

fn notify(reached: &Reached, request: &Request) -> Result<u32, Unshown> {
    let can = |ability: &str| reached.abilities.iter().any(|known| known == ability);
    let subject = &request.subject;
    let clickable = can("actions") && subject.target.is_some();
    let actions: &[&str] = if clickable { &[ACTION, "Go to lane"] } else { &[] };
    let hints = HashMap::from([("urgency", Value::U8(1)), ("category", Value::from("im.received"))]);
    let time = if request.word == Word::Ask { NEVER } else { AS_USUAL };
    let replaces = reached.id.load(Ordering::Acquire);
    let body = body(subject, request.word, can("body-markup"));
    let banner = ("scruff", replaces, "", subject.title.as_str(), body.as_str(), actions, hints, time);
    call(&reached.connection, "Notify", &banner)
}

/// The summary is plain by the standard; the body is markup where the service says so.
fn body(subject: &Subject, word: Word, markup: bool) -> String {
    let of = if subject.repo.is_empty() { String::new() } else { format!("{}: ", subject.repo) };
    let text = format!("{of}{}", word.text());
    if !markup {
        return text;
    }
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Connecting has no limit of its own: a bus that accepts and says nothing would hold it for ever.
fn connect(address: String) -> Result<Connection, Unshown> {
    let (done, outcome) = channel();
    std::thread::spawn(move || {
        let built = Builder::address(address.as_str()).and_then(|bus| bus.method_timeout(LIMIT).build());
        let _ = done.send(built);
    });
    match outcome.recv_timeout(LIMIT) {
        Ok(Ok(connection)) => Ok(connection),
        Ok(Err(error)) => Err(Unshown::NotThere(format!("no session bus: {error}"))),
        Err(_) => Err(Unshown::Failed("the session bus does not answer".to_owned())),
    }
}

fn call<T>(
    connection: &Connection,
    method: &str,
    arguments: &(impl serde::Serialize + zbus::zvariant::DynamicType),
) -> Result<T, Unshown>
where
    T: for<'d> zbus::zvariant::DynamicDeserialize<'d>,
{
    let reply = connection.call_method(Some(NAME), PATH, Some(NAME), method, arguments);
    let reply = reply.map_err(|error| unshown(&error))?;
    reply.body().deserialize().map_err(|error| unshown(&error))
}

/// Without a service the bus itself answers, at once.
fn unshown(error: &zbus::Error) -> Unshown {
    let why = error.to_string();
    match error {
        zbus::Error::MethodError(name, ..)
            if name.starts_with("org.freedesktop.DBus.Error.ServiceUnknown")
                || name.starts_with("org.freedesktop.DBus.Error.NameHasNoOwner")
                || name.starts_with("org.freedesktop.DBus.Error.Spawn.") =>
        {
            Unshown::NotThere(why)
        }
        _ => Unshown::Failed(why),
    }
}

/// Where the session's bus is: where the environment says, else where it usually is.
fn address(env: &Env) -> String {
    if let Some(address) = env.text("DBUS_SESSION_BUS_ADDRESS") {
        return address.to_owned();
    }
    let uid = rustix::process::geteuid().as_raw();
    format!("unix:path=/run/user/{uid}/bus")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::SessionId;

    #[test]
    fn markup_is_escaped_where_it_would_be_read() {
        let id = SessionId::parse("s").unwrap();
        let subject = Subject::of_session(id, std::path::Path::new("/x"), "claude".to_owned());
        let subject = Subject { repo: "a&b <i>".to_owned(), ..subject };
        assert_eq!(body(&subject, Word::Ask, true), "a&amp;b &lt;i&gt;: waiting on you");
        assert_eq!(body(&subject, Word::Ask, false), "a&b <i>: waiting on you");
    }

    #[test]
    fn a_missing_address_falls_back_to_the_usual_place() {
        let env: Env = [("DBUS_SESSION_BUS_ADDRESS".into(), "unix:path=/x".into())].into_iter().collect();
        assert_eq!(address(&env), "unix:path=/x");
        assert!(address(&Env::default()).ends_with("/bus"));
    }
}
