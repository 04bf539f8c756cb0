//! The tables of the configuration and their defaults. `default.toml` beside this file says what each means.

use std::ffi::OsString;

use serde::Deserialize;

/// A program, or an argv. `[]` means explicitly none.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Argv {
    /// One program.
    Program(String),
    /// A program and its arguments.
    List(Vec<String>),
}

impl Argv {
    /// The argv; empty for "explicitly none".
    pub fn words(&self) -> Vec<OsString> {
        match self {
            Argv::Program(program) if program.is_empty() => Vec::new(),
            Argv::Program(program) => vec![program.into()],
            Argv::List(words) => words.iter().map(OsString::from).collect(),
        }
    }
}

/// `[hooks]`: programs that take over decisions.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct Hooks {
    /// Which client a new lane gets.
    pub agent: Option<Argv>,
    /// Whether a branch's work has landed.
    pub landed: Option<Argv>,
    /// Whether uncommitted work becomes a commit before a checkout goes.
    pub preserve: Option<Argv>,
    /// Opens a session in a lane just created.
    pub open: Option<Argv>,
    /// Reopens a lane's session.
    pub resume: Option<Argv>,
    /// Brings a lane's window to the front.
    pub focus: Option<Argv>,
}

/// Where a lane's pane goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// A window (WezTerm: tab) after the current one.
    #[default]
    Window,
    /// A split to the right of the caller's pane.
    PaneRight,
    /// A split below the caller's pane.
    PaneBelow,
    /// A session (WezTerm: workspace) named after the lane.
    Session,
    /// A window of the desktop.
    OsWindow,
    /// In place of scruff itself.
    Here,
}

/// What a pane does when its client has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum After {
    /// A login shell in the checkout.
    #[default]
    Shell,
    /// The pane closes.
    Close,
    /// The pane stays with its last screen until a key is pressed.
    Hold,
}

/// Which multiplexer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// The one scruff is in, else the lane's, else a live one.
    #[default]
    Auto,
    /// tmux.
    Tmux,
    /// WezTerm.
    Wezterm,
    /// None: clients start in place.
    None,
}

/// `[mux]`: how lanes become panes.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct Mux {
    /// Which multiplexer.
    pub backend: Backend,
    /// Where a new lane goes.
    pub open: Place,
    /// Where a resumed lane goes.
    pub resume: Place,
    /// What a pane does when its client has ended.
    pub after: After,
    /// Open without taking the screen.
    pub background: bool,
    /// An argv that shows a detached server.
    pub terminal: Vec<String>,
}

/// `[lane]`: how lanes are named.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(default)]
pub struct Lane {
    /// The branch of a lane.
    pub branch: String,
    /// The cap on the key `scruff/<repo>/<lane>`, in bytes.
    pub name_max: Option<usize>,
}

impl Default for Lane {
    fn default() -> Self {
        Lane { branch: "worktree-{{.Name}}".to_owned(), name_max: None }
    }
}

/// `[park]`: what is never committed.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct Park {
    /// Patterns, as in `.gitignore`, of files that no `wip:` commit may hold.
    pub secrets: Vec<String>,
}

/// `[reap]`: what goes by itself.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(default)]
pub struct Reap {
    /// After how many hours a lane without a commit of its own may be reaped.
    pub fresh_after: u32,
    /// Whether the listing takes parked lanes that have landed.
    pub sweep: bool,
}

impl Reap {
    /// After how many hours a fresh lane may be reaped.
    pub fn fresh_after_hours(&self) -> i64 {
        self.fresh_after.into()
    }
}

impl Default for Reap {
    fn default() -> Self {
        Reap { fresh_after: 24, sweep: true }
    }
}

/// `[trash]`: what is kept of a checkout that goes.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct Trash {
    /// Names of ignored files and directories that are cheap to make again, beside the built-in ones.
    pub regenerable: Vec<String>,
}

/// Where a client's own checkouts go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaudeBase {
    /// Where all lanes are.
    #[default]
    Base,
    /// `<main>/.claude/worktrees/<name>`.
    Repo,
}

/// What becomes of a lane whose client says that it is done with its checkout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnRemove {
    /// Its work is saved, its checkout goes, its branch only if it has landed.
    #[default]
    Park,
    /// Nothing is touched.
    Keep,
    /// As with `park`, and its branch goes too.
    Discard,
}

/// `[worktree]`: what a new checkout gets, and what becomes of one whose client is done with it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct Worktree {
    /// Ignored files of the main checkout that a new one gets a copy of.
    pub copy: Vec<String>,
    /// Ignored files of the main checkout that a new one gets a link to.
    pub link: Vec<String>,
    /// Ignored files of the main checkout that a new one gets a clone of.
    pub reflink: Vec<String>,
    /// Where a client's own checkouts go.
    pub claude_base: ClaudeBase,
    /// What becomes of a lane whose client is done with it.
    pub on_remove: OnRemove,
}
