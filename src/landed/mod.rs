//! Whether a branch's work has landed in the default branch. It decides whether a branch dies, so
//! everything unproven is "no".

mod ancestry;
mod case;
mod contained;
mod forge;
mod hook;
mod never;
mod patches;
mod post;
mod undone;

use crate::forge::{Asked, Pr};
use crate::git::{Oid, Repo};

pub use hook::by_hook;
pub use post::{PostMerge, post_merge};

use case::Case;

/// The verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The work is in the default branch.
    Yes,
    /// It isn't, or nothing proves it.
    No,
    /// The branch never had a commit of its own.
    Fresh,
    /// Merging it would change nothing in the default branch: a hint, no proof.
    Contained,
}

/// Something that kept a rung from answering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// What was asked is beyond the rung.
    Beyond(String),
    /// A signal was missing: what it would have said could have changed the verdict.
    Missing(String),
}

impl Doubt {
    /// What it was.
    pub fn why(&self) -> &str {
        match self {
            Doubt::Beyond(why) | Doubt::Missing(why) => why,
        }
    }
}

/// The verdict on a branch, and on what grounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landed {
    /// The verdict.
    pub verdict: Verdict,
    /// The rung that answered; `None` for a "no".
    pub via: Option<String>,
    /// How sure it is: `certain`, `heuristic`, `unsure`, or a hook's own word.
    pub confidence: String,
    /// Which branch holds the work, such as `main` or `origin/main`.
    pub base: Option<String>,
    /// The pull request that says so.
    pub pr: Option<u64>,
    /// Whether the branch had commits of its own.
    pub own_commits: bool,
    /// Why it was kept, for people.
    pub reason: String,
    /// What kept rungs from answering.
    pub doubts: Vec<Doubt>,
}

impl Landed {
    /// The signals that were missing: warnings, and exit 3 from what acts.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.doubts.iter().filter(|doubt| matches!(doubt, Doubt::Missing(_))).map(Doubt::why)
    }

    fn no(reason: String) -> Self {
        Landed {
            verdict: Verdict::No,
            via: None,
            confidence: "certain".to_owned(),
            base: None,
            pr: None,
            own_commits: false,
            reason,
            doubts: Vec::new(),
        }
    }
}

/// What one rung says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// It answers.
    Answers(Answer),
    /// It has no proof.
    Not,
    /// It knows that the work was taken out again: no later rung is asked.
    Never(String),
    /// It cannot say.
    Cannot(Doubt),
}

/// An answer other than "no".
#[derive(Clone, Debug, PartialEq, Eq)]
struct Answer {
    verdict: Verdict,
    via: &'static str,
    base: Option<String>,
    pr: Option<u64>,
}

impl Answer {
    fn yes(via: &'static str, base: &str) -> Step {
        Step::Answers(Answer { verdict: Verdict::Yes, via, base: Some(base.to_owned()), pr: None })
    }
}

/// A branch to be judged.
pub struct Question<'a> {
    /// Its repository. To confirm what deletes: [`Repo::by_git`].
    pub repo: &'a Repo,
    /// The branch.
    pub branch: &'a str,
    /// The commit the lane was created at, from its record.
    pub start: Option<&'a str>,
    /// Asks the forge for the pull requests from branches of this name. Asked last, if at all.
    pub requests: &'a dyn Fn() -> Asked<Vec<Pr>>,
    /// The owners of the repository's remotes.
    pub owners: &'a [String],
}

/// Climbs the ladder: the first rung that answers.
pub fn landed(question: &Question<'_>) -> Landed {
    match Case::of(question) {
        Ok(case) => climb(&case),
        Err(Doubt::Beyond(why)) => Landed::no(why),
        Err(doubt) => {
            let no = Landed::no(doubt.why().to_owned());
            Landed { confidence: "unsure".to_owned(), doubts: vec![doubt], ..no }
        }
    }
}

/// The rungs, cheapest first, the forge last but for the heuristic.
const RUNGS: [fn(&Case<'_>) -> Step; 6] =
    [never::diverged, ancestry::held, patches::each, patches::whole, forge::merged, contained::nothing_new];

fn climb(case: &Case<'_>) -> Landed {
    let mut doubts = Vec::new();
    for rung in RUNGS {
        match rung(case) {
            Step::Answers(answer) => return case.answered(answer, doubts),
            Step::Never(why) => return Landed { own_commits: true, doubts, ..Landed::no(why) },
            Step::Cannot(doubt) if !doubts.contains(&doubt) => doubts.push(doubt),
            Step::Cannot(_) | Step::Not => {}
        }
    }
    case.unproven(doubts)
}

/// Where the ladder found a commit, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Base {
    name: String,
    oid: Oid,
}
