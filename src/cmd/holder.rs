//! `scruff __holder ID`: stays behind while a lane's banner is up.

use std::ffi::OsString;
use std::sync::mpsc::{RecvTimeoutError, channel};

use crate::ctx::Ctx;
use crate::env::Env;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::log;
use crate::notify::holder::{self, Alive};
use crate::ui::{self, Ui};

/// Runs it. This thread watches the one that holds: a service that hangs must not keep it for ever.
pub fn main(args: &[OsString]) -> Exit {
    let _ = rustix::process::setsid();
    let Some(id) = args.first().and_then(|id| id.to_str()).map(str::to_owned) else {
        ui::complain("__holder is for scruff's own hooks", &[]);
        return Exit::Failed;
    };
    let alive = Alive::default();
    let (done, ended) = channel();
    let watched = alive.clone();
    std::thread::spawn(move || {
        let _ = done.send(hold(&id, alive));
    });
    loop {
        match ended.recv_timeout(watched.left()) {
            Ok(Ok(())) => return Exit::Done,
            Ok(Err(error)) => {
                ui::complain(&error.message(), &[]);
                return Exit::Failed;
            }
            Err(RecvTimeoutError::Timeout) if !watched.left().is_zero() => {}
            Err(_) => {
                ui::complain("the banner holder got stuck and ends", &[]);
                return Exit::Failed;
            }
        }
    }
}

fn hold(id: &str, alive: Alive) -> Result<()> {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if id.is_empty() || id.starts_with('.') || !id.bytes().all(safe) {
        return Err(Error::usage(format!("{id:?} is no banner")));
    }
    let env = Env::of_process();
    let home = env.absolute("HOME").unwrap_or_else(|| "/".into());
    let ctx = Ctx::new(env, home, Ui::new(true, false), false)?;
    log::start(&ctx.env, &ctx.paths.log(), false);
    holder::run(&ctx, id, alive)
}
