//! The first prompt: how it reaches a client whole, whatever it holds.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::adapter::{Adapter, Image};
use super::launch::{Launch, command_line};
use super::template::Values;
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::paths;

/// The file in a checkout's git directory that holds a prompt too long for an argument.
pub const PROMPT_FILE: &str = "scruff-prompt";

/// The longest command handed over as it is, quoted, in bytes. The system refuses a single
/// string of 128 KiB.
const MAX_COMMAND: usize = 100_000;

/// A first turn.
#[derive(Clone, Debug, Default)]
pub struct Prompt {
    /// What to do, as bytes.
    pub text: Vec<u8>,
    /// Images that go with it.
    pub images: Vec<PathBuf>,
}

/// Adds a prompt to the command that starts a client.
pub(super) fn add(
    ctx: &Ctx,
    adapter: &Adapter,
    values: &Values,
    git_dir: &Path,
    prompt: &Prompt,
    launch: &mut Launch,
) -> Result<()> {
    adapter.takes(prompt)?;
    let images = images(ctx, prompt)?;
    let bare = launch.argv.clone();
    let text = OsString::from_vec(prompt.text.clone());
    launch.argv.extend(words(adapter, values, text, &images));
    if command_line(launch).len() <= MAX_COMMAND {
        return Ok(());
    }
    let file = git_dir.join(PROMPT_FILE);
    launch.argv = bare;
    launch.argv.extend(words(adapter, values, told(&file), &images));
    if command_line(launch).len() > MAX_COMMAND {
        return Err(Error::usage("too many images for one command").hint("name fewer with --image"));
    }
    paths::write_whole(&file, &prompt.text)?;
    launch.prompt_file = Some(file);
    Ok(())
}

/// The images as absolute paths of files that are there.
fn images(ctx: &Ctx, prompt: &Prompt) -> Result<Vec<PathBuf>> {
    let absolute = |image: &PathBuf| {
        let path = ctx.cwd.join(image);
        if path.is_file() {
            return Ok(path);
        }
        Err(Error::precondition(format!("there is no image {}", path.display()))
            .hint("--image takes the path of a file"))
    };
    prompt.images.iter().map(absolute).collect()
}

/// The arguments for a text and its images: images as flags first, then the prompt.
fn words(adapter: &Adapter, values: &Values, text: OsString, images: &[PathBuf]) -> Vec<OsString> {
    let (in_text, flags): (Vec<_>, Vec<_>) =
        images.iter().partition(|path| adapter.image.goes_into_text(path));
    let mut words = Vec::new();
    for path in flags {
        let values = values.with("Image", adapter.image.escaped(path));
        words.extend(adapter.image.argv.iter().map(|word| word.fill(&values)));
    }
    let text = in_text.into_iter().fold(text, |text, path| adapter.image.appended(text, values, path));
    if !text.is_empty() {
        let values = values.with("Prompt", shielded(text, &adapter.shield));
        words.extend(adapter.prompt.iter().map(|word| word.fill(&values)));
    }
    words
}

/// A leading space keeps a client from taking the first character for a command.
fn shielded(text: OsString, dangerous: &[String]) -> OsString {
    if !dangerous.iter().any(|start| text.as_bytes().starts_with(start.as_bytes())) {
        return text;
    }
    let mut shielded = OsString::from(" ");
    shielded.push(text);
    shielded
}

/// What a client is told when its prompt is in a file. The file is outside of the checkout, so
/// that it cannot be committed, and some clients' own tools read only inside.
fn told(file: &Path) -> OsString {
    let mut text = OsString::from("Your task is in the file ");
    text.push(file);
    text.push(
        " (it is outside of the working directory, because it is no part of the work: use cat where \
         your tool for reading files refuses it). Read all of it first, then do what it says.",
    );
    text
}

impl Adapter {
    /// Whether this client can be given a first turn; the error says why not.
    pub fn takes(&self, prompt: &Prompt) -> Result<()> {
        if prompt.text.contains(&0) {
            let error = Error::usage("the prompt holds a NUL byte, which no argument can");
            return Err(error.hint("take it out, or name the file in the prompt instead"));
        }
        let lacks = |what: &str, cure: &str| {
            let why = format!("the adapter of {} does not say how it takes {what}", self.id);
            Err(Error::precondition(why).hint(format!("give its file {cure}")))
        };
        if self.prompt.is_empty() && !prompt.text.is_empty() {
            return lacks("a prompt", "a [prompt] with an argv");
        }
        if self.image.argv.is_empty() && self.image.text.is_none() && !prompt.images.is_empty() {
            return lacks("an image", "an [image] with an argv or a text");
        }
        Ok(())
    }
}

impl Image {
    fn goes_into_text(&self, path: &Path) -> bool {
        let listed = |byte: &u8| self.text_when.as_bytes().contains(byte);
        self.text.is_some() && (self.argv.is_empty() || path.as_os_str().as_bytes().iter().any(listed))
    }

    /// The text with a line for an image.
    fn appended(&self, mut text: OsString, values: &Values, path: &Path) -> OsString {
        if !text.is_empty() {
            text.push("\n");
        }
        if let Some(line) = &self.text {
            text.push(line.fill(&values.with("Image", self.escaped(path))));
        }
        text
    }

    /// The path with a backslash before each character that the client would take apart.
    fn escaped(&self, path: &Path) -> OsString {
        let mut bytes = Vec::new();
        for byte in path.as_os_str().as_bytes() {
            if self.escape.as_bytes().contains(byte) {
                bytes.push(b'\\');
            }
            bytes.push(*byte);
        }
        OsString::from_vec(bytes)
    }
}
