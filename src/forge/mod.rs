//! The forge, asked through its own program (`gh`), never implemented. What it does not answer
//! is not known: that is never "there is no pull request".

mod adapter;
mod answer;
mod ask;
mod belongs;
mod cache;
mod place;

use std::cell::OnceCell;
use std::ffi::OsString;
use std::time::Duration;

use crate::client::template::{Template, Values};
use crate::ctx::Ctx;
use crate::error::{Error, Kind, Result};
use adapter::{Adapter, Adapters, Found};
use ask::{Asker, Question};

pub use answer::{Checks, Pr, State};
pub use belongs::{Branch, current, dead_end};
pub use place::Place;

/// How long opening a pull request may take: to kill that half-way leaves nobody the wiser.
const ACT_LIMIT: Duration = Duration::from_secs(90);

/// What came of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked<T> {
    /// The answer.
    Known(T),
    /// There is nobody to ask, and why: no adapter for the host, or its program isn't installed.
    NoForge(String),
    /// It was asked and did not answer, and why. A warning, and exit 3 from what acts.
    Unknown(String),
}

impl<T> Asked<T> {
    /// The answer, if there is one.
    pub fn known(self) -> Option<T> {
        match self {
            Asked::Known(answer) => Some(answer),
            _ => None,
        }
    }

    /// What to warn of.
    pub fn trouble(&self) -> Option<&str> {
        match self {
            Asked::Unknown(why) => Some(why),
            _ => None,
        }
    }
}

/// One call's way to forges.
pub struct Forge<'a> {
    ctx: &'a Ctx,
    adapters: OnceCell<Adapters>,
    asker: Asker<'a>,
}

impl<'a> Forge<'a> {
    /// Asks as long as every single question may take.
    pub fn new(ctx: &'a Ctx) -> Self {
        Forge { ctx, adapters: OnceCell::new(), asker: Asker::new(ctx, None) }
    }

    /// Waits no longer than `limit` for all questions together.
    pub fn within(ctx: &'a Ctx, limit: Duration) -> Self {
        Forge { ctx, adapters: OnceCell::new(), asker: Asker::new(ctx, Some(limit)) }
    }

    /// The newest pull requests of many repositories, asked at the same time.
    pub fn newest(&self, places: &[Place]) -> Vec<Asked<Vec<Pr>>> {
        let question = |place| self.question(place, &values(place), |adapter| Some(&adapter.list));
        self.asker.ask_all(places.iter().map(question).collect(), answer::requests)
    }

    /// Every pull request from a branch of this name: the exact question, for deciding.
    pub fn of_branch(&self, place: &Place, branch: &str) -> Asked<Vec<Pr>> {
        if branch.starts_with('-') {
            return Asked::Unknown(format!("{branch} would be taken for an option"));
        }
        let values = values(place).with("Branch", branch);
        let question = self.question(place, &values, |adapter| Some(&adapter.branch));
        self.asker.ask(question, answer::requests)
    }

    /// Whether a repository takes no more changes.
    pub fn is_archived(&self, place: &Place) -> Asked<bool> {
        let question = self.question(place, &values(place), |adapter| adapter.repo.as_ref());
        self.asker.ask(question, answer::archived)
    }

    /// Opens a pull request for a branch that has been pushed; what the program says of it, which
    /// is its URL. An error leaves the branch pushed.
    pub fn open_pr(&self, place: &Place, branch: &str, base: &str) -> Result<String> {
        let by_hand = format!("the branch {branch} is pushed: open a pull request by hand");
        let values = values(place).with("Branch", branch).with("Base", base);
        let cmd = match self.question(place, &values, |adapter| adapter.create.as_ref()) {
            Asked::Known(question) => question.cmd.cwd(&place.main).limit(ACT_LIMIT),
            Asked::NoForge(why) | Asked::Unknown(why) => {
                return Err(Error::new(Kind::Degraded, format!("nobody can open a pull request: {why}"))
                    .hint(by_hand));
            }
        };
        let failed = |why| Error::failed(format!("no pull request was opened: {why}")).hint(by_hand.clone());
        let output = cmd.run().map_err(|failure| failed(failure.to_string()))?;
        if !output.ok() {
            return Err(failed(ask::complaint(&output)));
        }
        let said = String::from_utf8_lossy(&output.stdout);
        Ok(said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned())
    }

    /// What is asked of the program for a place. `None` from `argv`: it cannot be asked that.
    fn question(
        &self,
        place: &Place,
        values: &Values,
        argv: impl FnOnce(&Adapter) -> Option<&Vec<Template>>,
    ) -> Asked<Question> {
        let Some(host) = place.host.as_deref() else {
            return Asked::NoForge(format!("{} has no remote on a forge", place.repo));
        };
        let adapter = match self.adapters.get_or_init(|| Adapters::load(self.ctx)).find(host) {
            Found::Adapter(adapter) => adapter,
            Found::None => return Asked::NoForge(format!("there is no adapter for {host}")),
            Found::Broken(why) => return Asked::Unknown(why),
        };
        let Some(templates) = argv(&adapter) else {
            return Asked::NoForge(format!("the adapter for {host} cannot ask that"));
        };
        let argv: Vec<OsString> = templates.iter().map(|template| template.fill(values)).collect();
        match argv.first().and_then(|program| self.ctx.find(program)) {
            Some(program) => Asked::Known(Question::new(self.ctx, &program, argv, &adapter)),
            None => Asked::NoForge(format!(
                "{} is not on PATH",
                argv.first().unwrap_or(&OsString::new()).display()
            )),
        }
    }
}

fn values(place: &Place) -> Values {
    let mut values = Values::default();
    values.set("Repo", &place.repo);
    values.set("Main", &place.main);
    values
}
