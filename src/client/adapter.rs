//! Adapters: everything scruff knows of a client's command line, as data.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::template::Template;
use super::transcript::Finder;
use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};

/// The adapters that come with scruff.
const BUILT_IN: [(&str, &str); 5] = [
    ("claude", include_str!("builtin/claude.toml")),
    ("codex", include_str!("builtin/codex.toml")),
    ("gemini", include_str!("builtin/gemini.toml")),
    ("opencode", include_str!("builtin/opencode.toml")),
    ("pi", include_str!("builtin/pi.toml")),
];

/// A file larger than this is no adapter, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// An id is a file's name: longer than this it is none, in bytes.
const MAX_ID: usize = 64;

/// A client: how it is started, gets a prompt, and goes on with a conversation.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// What the registry calls it.
    pub id: String,
    /// The file it was read from, if it is the user's own.
    pub file: Option<PathBuf>,
    pub(super) new: Vec<Template>,
    pub(super) resume: Option<Vec<Template>>,
    pub(super) newest: Option<Vec<Template>>,
    pub(super) pick: Option<Vec<Template>>,
    pub(super) status: Vec<String>,
    pub(super) chooses_session: bool,
    pub(super) finder: Finder,
    pub(super) prompt: Vec<Template>,
    pub(super) shield: Vec<String>,
    pub(super) image: Image,
    pub(super) env: Vec<(String, Template)>,
    pub(super) scrub: Vec<String>,
}

/// How a client is shown an image.
#[derive(Clone, Debug, Default)]
pub(super) struct Image {
    pub(super) argv: Vec<Template>,
    pub(super) text: Option<Template>,
    pub(super) text_when: String,
    pub(super) escape: String,
}

impl Adapter {
    /// The program that is started.
    pub fn program(&self) -> String {
        let empty = super::template::Values::default();
        self.new.first().map(|first| first.fill(&empty).to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// The adapter of a client: the user's own file, else the one that comes with scruff.
pub fn adapter(ctx: &Ctx, id: &str) -> Result<Adapter> {
    if !is_id(id) {
        return Err(unknown(ctx, id));
    }
    let file = directory(ctx).join(format!("{id}.toml"));
    if let Some(text) = read(&file)? {
        let named = |why| {
            Error::precondition(format!("{}: {why}", file.display()))
                .hint("mend the file, or remove it to get scruff's own adapter back")
        };
        let adapter = parse(id, &text).map_err(named)?;
        return Ok(Adapter { file: Some(file), ..adapter });
    }
    let (_, text) = BUILT_IN.iter().find(|(name, _)| *name == id).ok_or_else(|| unknown(ctx, id))?;
    parse(id, text).map_err(|why| Error::failed(format!("built-in adapter {id}: {why}")))
}

/// Every client there is an adapter for, sorted.
pub fn ids(ctx: &Ctx) -> Vec<String> {
    let mut list: Vec<String> = BUILT_IN.iter().map(|(id, _)| (*id).to_owned()).collect();
    for entry in std::fs::read_dir(directory(ctx)).into_iter().flatten().flatten() {
        let name = entry.file_name().into_string().unwrap_or_default();
        list.extend(name.strip_suffix(".toml").filter(|id| is_id(id)).map(str::to_owned));
    }
    list.sort();
    list.dedup();
    list
}

fn directory(ctx: &Ctx) -> PathBuf {
    ctx.paths.config.join("adapters/agent")
}

fn unknown(ctx: &Ctx, id: &str) -> Error {
    Error::precondition(format!("there is no client {id:?}"))
        .hint(format!("there are: {}", ids(ctx).join(", ")))
        .hint(format!("another one is a file <id>.toml in {}", directory(ctx).display()))
}

/// Whether `id` can be a client's: it becomes the name of a file.
fn is_id(id: &str) -> bool {
    let first = id.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    let rest = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    first && rest && id.len() <= MAX_ID
}

/// The text of a file, `None` where there is no such file.
fn read(file: &Path) -> Result<Option<String>> {
    let what = || format!("cannot read {}", file.display());
    let meta = match std::fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.doing(what)?,
    };
    if !meta.is_file() || meta.len() > MAX_FILE {
        let why = "it is no plain file of at most 1 MiB";
        return Err(Error::precondition(format!("{}: {why}", what())).hint("move it out of the way"));
    }
    let mut text = String::new();
    std::fs::File::open(file).doing(what)?.take(MAX_FILE).read_to_string(&mut text).doing(what)?;
    Ok(Some(text))
}

/// An adapter as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    new: Vec<String>,
    resume: Option<Vec<String>>,
    newest: Option<Vec<String>>,
    pick: Option<Vec<String>>,
    #[serde(default)]
    status: Vec<String>,
    #[serde(default)]
    session: Session,
    #[serde(default)]
    conversations: Finder,
    #[serde(default)]
    prompt: WrittenPrompt,
    #[serde(default)]
    image: WrittenImage,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    scrub: Vec<String>,
}

/// Who chooses the id of a new conversation.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Session {
    /// The client; it is learnt later.
    #[default]
    Client,
    /// scruff, a fresh UUID.
    Uuid,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPrompt {
    #[serde(default)]
    argv: Vec<String>,
    #[serde(default)]
    shield: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenImage {
    #[serde(default)]
    argv: Vec<String>,
    text: Option<String>,
    #[serde(default)]
    text_when: String,
    #[serde(default)]
    escape: String,
}

fn parse(id: &str, text: &str) -> Result<Adapter, String> {
    let written: Written = toml::from_str(text).map_err(|error| in_one_line(&error, text))?;
    if written.new.first().is_none_or(String::is_empty) {
        return Err("new: the argv is empty".to_owned());
    }
    Ok(Adapter {
        id: id.to_owned(),
        file: None,
        new: argv("new", &written.new)?,
        resume: some_argv("resume", written.resume)?,
        newest: some_argv("newest", written.newest)?,
        pick: some_argv("pick", written.pick)?,
        status: written.status,
        chooses_session: written.session == Session::Uuid,
        finder: written.conversations,
        prompt: argv("prompt.argv", &written.prompt.argv)?,
        shield: written.prompt.shield,
        image: image(written.image)?,
        env: environment(written.env)?,
        scrub: written.scrub,
    })
}

/// An error of the TOML reader with its line, without the picture of it.
fn in_one_line(error: &toml::de::Error, text: &str) -> String {
    let at = error.span().map_or(0, |span| span.start).min(text.len());
    let line = text.as_bytes()[..at].split(|byte| *byte == b'\n').count();
    format!("line {line}: {}", error.message().replace('\n', " "))
}

fn argv(key: &str, words: &[String]) -> Result<Vec<Template>, String> {
    let template = |word: &String| Template::parse(word).map_err(|why| format!("{key}: {why}"));
    words.iter().map(template).collect()
}

fn some_argv(key: &str, words: Option<Vec<String>>) -> Result<Option<Vec<Template>>, String> {
    words.filter(|words| !words.is_empty()).map(|words| argv(key, &words)).transpose()
}

fn image(written: WrittenImage) -> Result<Image, String> {
    let text = written.text.map(|text| Template::parse(&text).map_err(|why| format!("image.text: {why}")));
    Ok(Image {
        argv: argv("image.argv", &written.argv)?,
        text: text.transpose()?,
        text_when: written.text_when,
        escape: written.escape,
    })
}

fn environment(written: BTreeMap<String, String>) -> Result<Vec<(String, Template)>, String> {
    let pair = |(name, text): (String, String)| {
        let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !letters || name.bytes().next().is_none_or(|byte| byte.is_ascii_digit()) {
            return Err(format!("env: {name:?} is no name of a variable"));
        }
        let template = Template::parse(&text).map_err(|why| format!("env.{name}: {why}"))?;
        Ok((name, template))
    };
    written.into_iter().map(pair).collect()
}
