//! Rung 0: what the user's own program says.

use super::{Landed, Verdict};
use crate::ctx::Ctx;
use crate::lane::Situation;
use crate::seam::{self, Answer, Seam};

/// The hook's verdict; `None` where there is none, or it has no opinion.
pub fn by_hook(ctx: &Ctx, situation: impl FnOnce() -> Situation) -> Option<Landed> {
    Seam::Landed.configured(ctx)?;
    let (verdict, said) = match seam::ask(ctx, Seam::Landed, &situation(), &[]) {
        Answer::Yes(said) => (Verdict::Yes, said),
        Answer::No(said) | Answer::Refused(said) => (Verdict::No, said),
        Answer::NoOpinion | Answer::Broken => return None,
    };
    let via = said.field("via").unwrap_or("hook").to_owned();
    let reason = match verdict {
        Verdict::Yes => format!("the landed hook says so ({via})"),
        _ => "the landed hook says that it has not landed".to_owned(),
    };
    let confidence = said.field("confidence").unwrap_or("certain").to_owned();
    let no = Landed::no(reason);
    Some(Landed { verdict, via: Some(via), confidence, own_commits: true, ..no })
}
