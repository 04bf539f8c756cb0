//! Clients call in: `scruff hook <word>`, JSON on standard input. Everything that knows the shape
//! of a client's payload is in here.

mod caller;
pub mod create;
pub mod event;
mod gate;
mod input;
mod json;
mod notify;
pub mod payload;
pub mod remove;
mod session;
mod who;

use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::ctx::Ctx;
use crate::error::{Error, Result};

use event::Kind;
use payload::Payload;
use who::Who;

/// What a client called for.
#[derive(Clone, Debug)]
pub struct Call {
    /// What it is about.
    pub kind: Kind,
    /// What came with it.
    pub payload: Payload,
    /// The client, as the hook's command line says.
    pub client: Option<String>,
    /// The directory that the command line names ahead of the payload's.
    pub directory: Option<PathBuf>,
}

impl Call {
    /// Reads what a client sends: the JSON it gave as an argument, else from `input`. `kind` is
    /// what the word on the command line says; without it the payload does, and nothing is made
    /// or removed then.
    pub fn read(kind: Option<Kind>, argument: Option<&[u8]>, input: impl AsFd) -> Self {
        let read = || input::read(input);
        let payload = argument.map_or_else(|| Payload::parse(&read()), Payload::parse);
        let said = || match payload.kind() {
            Kind::Create | Kind::Remove => Kind::Other,
            kind => kind,
        };
        Call { kind: kind.unwrap_or_else(said), payload, client: None, directory: None }
    }

    /// Whether there is certainly nothing to do, found out without configuration, registry or any
    /// other program. `state` is the state directory.
    pub fn is_idle(&self, state: &Path) -> bool {
        gate::is_closed(state, self.kind, &self.payload)
    }

    /// Whether the client goes by the exit status: elsewhere a failure would be in its way.
    pub fn may_fail(&self) -> bool {
        matches!(self.kind, Kind::Create | Kind::Remove)
    }

    /// Does what the event asks for. What comes back is for the client.
    pub fn serve(&self, ctx: &Ctx) -> Result<Vec<u8>> {
        let from_agent = self.payload.agent().is_some();
        match self.kind {
            Kind::Create => return self.create(ctx),
            Kind::Remove => remove::remove(ctx, self.payload.path().as_deref())?,
            Kind::Other => {}
            Kind::Start | Kind::End if from_agent => {}
            Kind::Start => session::start(ctx, self)?,
            Kind::End => session::end(ctx, self)?,
            _ => self.report(ctx)?,
        }
        Ok(Vec::new())
    }

    fn create(&self, ctx: &Ctx) -> Result<Vec<u8>> {
        let payload = &self.payload;
        let missing = || {
            let keys = payload.keys().join(", ");
            let received = if keys.is_empty() { "nothing that can be read".to_owned() } else { keys };
            Error::precondition("the payload does not name the checkout that is wanted")
                .hint(format!("received: {received}"))
        };
        let asked = create::Asked {
            name: payload.name().ok_or_else(missing)?,
            base: self.directory.clone().or_else(|| payload.base()).unwrap_or_else(|| ctx.cwd.clone()),
            client: payload.client().or_else(|| self.client.clone()),
            session: payload.session().map(String::from),
        };
        let path = create::create(ctx, &asked)?;
        Ok([path.as_os_str().as_bytes(), b"\n"].concat())
    }

    /// Tells a person what has changed.
    fn report(&self, ctx: &Ctx) -> Result<()> {
        let Some(event) = notify::event(self.kind, &self.payload, ctx.config().notify.idle) else {
            return Ok(());
        };
        let Some(who) = Who::find(ctx, self)? else { return Ok(()) };
        who.register(ctx, self)?;
        if !who.counts {
            return Ok(());
        }
        crate::notify::take(ctx, &who.subject, &event, self.payload.turn().as_deref(), who.is_in_pane())
    }
}
