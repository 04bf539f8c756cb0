//! What becomes of a banner: clicked, closed, or its service gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use zbus::blocking::{Connection, MessageIterator};
use zbus::message::Type;
use zbus::{MatchRule, Message};

use super::dbus::{ACTION, NAME};
use crate::notify::Wake;

/// How long the banner's number may take to become known: a click can be faster than the answer.
const NUMBER_LIMIT: Duration = Duration::from_secs(2);

/// Sends what becomes of the banner with this number, from a thread that ends with the connection.
pub(super) fn listen(
    connection: &Connection,
    id: Arc<AtomicU32>,
    serial: u32,
    wake: Sender<Wake>,
) -> zbus::Result<()> {
    let of_service = MatchRule::builder().msg_type(Type::Signal).interface(NAME)?.build();
    let owner = MatchRule::builder().msg_type(Type::Signal).sender("org.freedesktop.DBus")?;
    let owner = owner.member("NameOwnerChanged")?.arg(0, NAME)?.build();
    let bus = zbus::blocking::fdo::DBusProxy::new(connection)?;
    for rule in [of_service, owner] {
        bus.add_match_rule(rule)?;
    }
    let messages = MessageIterator::from(connection);
    std::thread::spawn(move || {
        let mut token = None;
        for message in messages.flatten() {
            let woken = match said(&message) {
                Some(Said::Token(number, text)) if is(&id, number) => {
                    token = Some(text);
                    continue;
                }
                Some(Said::Clicked(number)) if is(&id, number) => Wake::Clicked(serial, token.take()),
                Some(Said::Closed(number)) if is(&id, number) => Wake::Closed(serial),
                Some(Said::ServiceGone) => Wake::Closed(serial),
                _ => continue,
            };
            if wake.send(woken).is_err() {
                return;
            }
        }
        let _ = wake.send(Wake::Closed(serial));
    });
    Ok(())
}

/// What a message says about a banner, by its number.
enum Said {
    Token(u32, String),
    Clicked(u32),
    Closed(u32),
    ServiceGone,
}

fn said(message: &Message) -> Option<Said> {
    let header = message.header();
    if header.message_type() != Type::Signal {
        return None;
    }
    let (interface, member) = (header.interface()?.as_str(), header.member()?.as_str());
    let body = message.body();
    match (interface, member) {
        (NAME, "ActivationToken") => body.deserialize().ok().map(|(id, token)| Said::Token(id, token)),
        (NAME, "ActionInvoked") => {
            let (id, action): (u32, String) = body.deserialize().ok()?;
            (action == ACTION).then_some(Said::Clicked(id))
        }
        (NAME, "NotificationClosed") => {
            let (id, _reason): (u32, u32) = body.deserialize().ok()?;
            Some(Said::Closed(id))
        }
        ("org.freedesktop.DBus", "NameOwnerChanged") => {
            let (name, before, _): (String, String, String) = body.deserialize().ok()?;
            (name == NAME && !before.is_empty()).then_some(Said::ServiceGone)
        }
        _ => None,
    }
}

/// Whether a number is the banner's, once that is known.
fn is(id: &AtomicU32, number: u32) -> bool {
    let deadline = Instant::now() + NUMBER_LIMIT;
    while id.load(Ordering::Acquire) == 0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
    }
    id.load(Ordering::Acquire) == number
}
