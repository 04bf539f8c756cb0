//! What `new` and `open` share: the flags of a new lane, its client, its first turn.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::client::Prompt;
use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};
use crate::git::Repo;
use crate::lane::create::{self, Made, Request, Wanted};
use crate::lane::{Situation, handover};
use crate::seam::{self, Answer, Seam};
use crate::ui;

/// A prompt larger than this is refused, in bytes.
const MAX_PROMPT: u64 = 16 << 20;

/// The flags of a new lane.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Making {
    /// The client: claude, codex, opencode, gemini, pi or one of yours
    #[arg(long, value_name = "CLIENT")]
    pub agent: Option<String>,
    /// Run CMD in the lane instead of a client, through $SHELL
    #[arg(long, value_name = "CMD", conflicts_with_all = ["prompt", "prompt_file", "image"])]
    pub cmd: Option<OsString>,
    /// Cut the lane from REF instead of the main checkout's HEAD
    #[arg(long, value_name = "REF")]
    pub from: Option<String>,
    /// The first turn
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "prompt_file")]
    pub prompt: Option<OsString>,
    /// The first turn, from a file; - is stdin
    #[arg(long, value_name = "FILE")]
    pub prompt_file: Option<PathBuf>,
    /// A picture for the first turn; may be repeated
    #[arg(long, value_name = "FILE")]
    pub image: Vec<PathBuf>,
}

impl Making {
    /// Whether there is a first turn.
    pub fn has_prompt(&self) -> bool {
        self.prompt.is_some() || self.prompt_file.is_some() || !self.image.is_empty()
    }

    /// The first turn, byte for byte.
    pub fn prompt(&self, ctx: &Ctx) -> Result<Option<Prompt>> {
        use std::os::unix::ffi::OsStrExt;
        if !self.has_prompt() {
            return Ok(None);
        }
        let text = match (&self.prompt, &self.prompt_file) {
            (Some(text), _) => text.as_bytes().to_owned(),
            (None, Some(file)) => read_prompt(ctx, file)?,
            (None, None) => Vec::new(),
        };
        let images = self.image.iter().map(|image| found(ctx, image)).collect::<Result<_>>()?;
        Ok(Some(Prompt { text, images }))
    }

    /// Makes the lane, and says on what it is based. Nothing is made for a client that cannot be
    /// given its first turn.
    pub fn make(&self, ctx: &Ctx, repo: &Repo, name: Option<&str>, prompt: Option<&Prompt>) -> Result<Made> {
        let name = name.map_or(Wanted::Random, |name| Wanted::Typed(name.to_owned()));
        let from = self.from.as_deref().map(|spec| create::origin(repo, spec)).transpose()?;
        let request = Request { from, ..Request::new(name) };
        let made = create::create(ctx, repo, request, |situation| {
            let id = agent(ctx, self.agent.as_deref(), situation)?;
            prompt.map(|prompt| crate::client::adapter(ctx, &id)?.takes(prompt)).transpose()?;
            Ok(id)
        })?;
        handover::say(ctx, &made.said, &made.lane.row.path);
        let row = &made.lane.row;
        let start =
            made.lane.record.start.as_deref().map_or("no commit yet", |oid| &oid[..10.min(oid.len())]);
        let base = made.lane.record.base.as_deref().unwrap_or("a detached HEAD");
        ctx.ui.note(format!("{} is on {}, cut from {base} ({start})", made.lane.label(), row.branch));
        Ok(made)
    }
}

fn read_prompt(ctx: &Ctx, file: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let name = || format!("cannot read the prompt from {}", file.display());
    if file.as_os_str() == "-" {
        std::io::stdin().lock().take(MAX_PROMPT + 1).read_to_end(&mut bytes).doing(name)?;
    } else {
        let open = std::fs::File::open(ctx.cwd.join(file)).doing(name)?;
        open.take(MAX_PROMPT + 1).read_to_end(&mut bytes).doing(name)?;
    }
    if bytes.len() as u64 > MAX_PROMPT {
        return Err(Error::usage("the prompt is larger than 16 MiB")
            .hint("leave the text in a file and name it in the prompt"));
    }
    Ok(bytes)
}

fn found(ctx: &Ctx, image: &Path) -> Result<PathBuf> {
    let path = ctx.cwd.join(image);
    std::fs::canonicalize(&path)
        .doing(|| format!("cannot find the picture {}", image.display()))
        .map_err(|error| error.hint("name a file that is there with --image"))
}

/// Which client a new lane gets: the flag, `SCRUFF_AGENT`, the seam, the configuration, claude.
pub(super) fn agent(ctx: &Ctx, flag: Option<&str>, situation: &Situation) -> Result<String> {
    let said = flag.or_else(|| ctx.env.text("SCRUFF_AGENT")).map(str::to_owned);
    let chosen = match said {
        Some(id) => Some(id),
        None => agent_seam(ctx, situation)?,
    };
    let id = chosen.or_else(|| ctx.config().agent.clone()).unwrap_or_else(|| "claude".to_owned());
    crate::client::adapter(ctx, &id)?;
    Ok(id)
}

fn agent_seam(ctx: &Ctx, situation: &Situation) -> Result<Option<String>> {
    match seam::ask(ctx, Seam::Agent, situation, &[]) {
        Answer::Yes(said) => Ok(said.word().or_else(|| said.field("agent")).map(ui::plain)),
        Answer::NoOpinion | Answer::Broken => Ok(None),
        Answer::No(_) => Err(Error::failed("the agent hook says no: no lane was made")
            .hint("see [hooks] agent in config.toml, or name a client with --agent")),
        Answer::Refused(_) => Err(Error::refused("the agent hook refuses: no lane was made")
            .hint("see [hooks] agent in config.toml, or name a client with --agent")),
    }
}
