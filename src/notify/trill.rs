//! trill, the notification compositor: the application's own program, called once per banner.

use std::path::PathBuf;
use std::time::Duration;

use super::subject::{Request, Word};
use super::{Held, Notifier, Unshown};
use crate::ctx::Ctx;
use crate::proc::Cmd;

/// How long it may take.
const LIMIT: Duration = Duration::from_secs(2);

/// The longest target of a button, in bytes.
const MAX_TARGET: usize = 100;

/// Where the program is in an application bundle.
const BUNDLES: [&str; 4] = [
    "Trill.app/Contents/MacOS/Trill",
    "Trill.app/Contents/MacOS/trill",
    "trill.app/Contents/MacOS/trill",
    "trill.app/Contents/MacOS/Trill",
];

/// The program: what `SCRUFF_TRILL` says, also when nothing is there, else on PATH, else in an
/// application bundle.
pub(super) fn find(ctx: &Ctx) -> Option<PathBuf> {
    if ctx.env.has("SCRUFF_TRILL") {
        return ctx.env.get("SCRUFF_TRILL").and_then(|program| ctx.find(program));
    }
    ctx.find("trill").or_else(|| {
        let places = [PathBuf::from("/Applications"), ctx.paths.home.join("Applications")];
        let programs = places.iter().flat_map(|place| BUNDLES.map(|bundle| place.join(bundle)));
        programs.into_iter().find_map(|program| ctx.find(program))
    })
}

/// trill, if it is installed.
#[derive(Debug)]
pub(super) struct Trill {
    program: Option<PathBuf>,
}

impl Trill {
    /// The installed one.
    pub(super) fn new(ctx: &Ctx) -> Self {
        Trill { program: find(ctx) }
    }

    fn run(&self, args: &[String]) -> Result<(), Unshown> {
        let missing = || Unshown::NotThere("trill is not installed".to_owned());
        let program = self.program.as_ref().ok_or_else(missing)?;
        match Cmd::new(program).args(args).limit(LIMIT).run() {
            Ok(output) if output.ok() => Ok(()),
            Ok(output) => Err(Unshown::Failed(format!("trill: {}", output.complaint()))),
            Err(failure) => Err(Unshown::Failed(format!("trill: {failure}"))),
        }
    }
}

impl Notifier for Trill {
    /// A question stays until it is answered; of the end of a turn trill itself takes care.
    fn show(&mut self, request: &Request) -> Result<Held, Unshown> {
        self.run(&send(request))?;
        Ok(if request.word == Word::Ask { Held::Yes } else { Held::No })
    }

    fn take_down(&mut self, request: &Request) -> Result<(), Unshown> {
        self.run(&["resolve".to_owned(), request.subject.key.clone()])
    }

    /// trill keeps a banner without anyone's help.
    fn let_go(&mut self) {}
}

fn send(request: &Request) -> Vec<String> {
    let subject = &request.subject;
    let (kind, symbol) = match request.word {
        Word::Ask => ("ask", "questionmark.bubble"),
        Word::Failed => ("done", "exclamationmark.triangle"),
        Word::Done | Word::Down => ("done", "checkmark.circle"),
    };
    let options = [
        ("--kind", kind),
        ("--title", &subject.title),
        ("--body", request.word.text()),
        ("--source", &subject.client),
        ("--thread", &subject.title),
        ("--symbol", symbol),
        ("--key", &subject.key),
    ];
    let mut args = vec!["send".to_owned()];
    for (option, value) in options {
        // A value that looks like an option can only be given in one word.
        if value.starts_with('-') {
            args.push(format!("{option}={value}"));
        } else {
            args.extend([option.to_owned(), value.to_owned()]);
        }
    }
    if let Some(target) = subject.target.as_deref().filter(|target| is_target(target)) {
        args.extend(["--action".to_owned(), format!("Go to lane=lane:{target}")]);
    }
    args
}

/// What trill takes for the name of a lane; a banner with another one would be refused whole.
fn is_target(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte);
    (1..=MAX_TARGET).contains(&text.len()) && !text.starts_with('-') && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::subject::Subject;
    use crate::session::SessionId;

    fn request(title: &str, word: Word) -> Request {
        let subject = Subject {
            key: format!("scruff/shop/{title}"),
            id: "abcdefghijkm".to_owned(),
            title: title.to_owned(),
            repo: "shop".to_owned(),
            label: format!("shop/{title}"),
            target: Some(format!("shop/{title}")),
            client: "claude".to_owned(),
            lane: None,
            session: SessionId::parse("s").unwrap(),
        };
        Request { subject, word }
    }

    #[test]
    fn an_ask_is_sent_as_trill_wants_it() {
        let expected = [
            "send",
            "--kind",
            "ask",
            "--title",
            "fix",
            "--body",
            "waiting on you",
            "--source",
            "claude",
            "--thread",
            "fix",
            "--symbol",
            "questionmark.bubble",
            "--key",
            "scruff/shop/fix",
            "--action",
            "Go to lane=lane:shop/fix",
        ];
        assert_eq!(send(&request("fix", Word::Ask)), expected);
    }

    #[test]
    fn a_target_that_trill_would_refuse_is_left_out() {
        for name in ["é", "a b", "fix~abcd", "x=y", &"x".repeat(100)] {
            assert!(!send(&request(name, Word::Done)).contains(&"--action".to_owned()), "{name}");
        }
    }

    #[test]
    fn no_name_is_an_option() {
        let args = send(&request("-x", Word::Done));
        assert!(args.contains(&"--title=-x".to_owned()) && !args.contains(&"-x".to_owned()), "{args:?}");
    }
}
