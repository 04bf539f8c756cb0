//! `scruff pick`

mod choice;
mod draw;
mod preview;
mod screen;

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::making::Making;
use super::placing::{Placing, Seat};
use super::{Outcome, close, drop, focus, open, reap};
use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};
use crate::lane::{Lane, find, listing};
use choice::Choice;
use preview::Previews;
use screen::Screen;

/// Choose a lane by typing a part of its name, with a live preview of its pane.
///
/// Enter goes to it, or resumes it when it runs nowhere. Ctrl-O makes a lane of what was typed,
/// Ctrl-X closes (parks) the chosen one, Ctrl-D drops it, Ctrl-T takes all that have landed, Esc leaves.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Print the chosen lane as REPO/NAME and do nothing else
    #[arg(long)]
    pub print: bool,
    /// What to begin the search with
    #[arg(value_name = "TEXT", default_value = "")]
    pub query: String,
    /// Whose multiplexer and pane
    #[command(flatten)]
    pub seat: Seat,
}

/// What a person decided on.
enum Decision {
    Go(Box<Lane>, String),
    New(String),
    Close(String),
    Drop(String),
    Reap,
    Leave,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let table = find::table(ctx)?;
    let views = listing::views(ctx, &table);
    if views.is_empty() {
        return Err(Error::precondition("there is no lane to choose").hint("make one: scruff open NAME"));
    }
    let mut choice = Choice::new(views, &args.query);
    let decision = {
        let mut screen = Screen::open()?;
        decide(ctx, &mut choice, &mut screen)?
    };
    act(args, ctx, decision)
}

fn decide(ctx: &Ctx, choice: &mut Choice, screen: &mut Screen) -> Result<Decision> {
    let mut previews = Previews::new(ctx);
    loop {
        draw::draw(screen, choice, &mut previews)?;
        // Without a key the preview is looked at again: it is live.
        if !event::poll(preview::FRESH).doing(|| "cannot read the keyboard".to_owned())? {
            previews.refresh();
            continue;
        }
        match event::read().doing(|| "cannot read the keyboard".to_owned())? {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                if let Some(decision) = press(choice, key) {
                    return Ok(decision);
                }
            }
            Event::Paste(text) => choice.type_text(&text),
            _ => {}
        }
    }
}

/// What a key means: a decision, or a change of the choice.
fn press(choice: &mut Choice, key: KeyEvent) -> Option<Decision> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let exact = |choice: &Choice| choice.chosen().map(|view| format!("{}/{}", view.repo, view.name));
    match key.code {
        KeyCode::Enter => {
            let view = choice.chosen()?;
            return Some(Decision::Go(Box::new(view.lane.clone()), exact(choice)?));
        }
        KeyCode::Esc => return Some(Decision::Leave),
        KeyCode::Char('c' | 'g') if control => return Some(Decision::Leave),
        KeyCode::Char('o') if control => return Some(Decision::New(choice.query().to_owned())),
        KeyCode::Char('x') if control => return exact(choice).map(Decision::Close),
        KeyCode::Char('d') if control => return exact(choice).map(Decision::Drop),
        KeyCode::Char('t') if control => return Some(Decision::Reap),
        KeyCode::Down | KeyCode::Tab => choice.step(1),
        KeyCode::Up | KeyCode::BackTab => choice.step(-1),
        KeyCode::Char('n' | 'j') if control => choice.step(1),
        KeyCode::Char('p' | 'k') if control => choice.step(-1),
        KeyCode::PageDown => choice.step(10),
        KeyCode::PageUp => choice.step(-10),
        KeyCode::Backspace => choice.erase(),
        KeyCode::Char('h') if control => choice.erase(),
        KeyCode::Char('u') if control => choice.clear(),
        KeyCode::Char(c) if !control && !key.modifiers.contains(KeyModifiers::ALT) => {
            choice.type_text(c.encode_utf8(&mut [0; 4]));
        }
        _ => {}
    }
    None
}

fn act(args: &Args, ctx: &Ctx, decision: Decision) -> Result<Outcome> {
    let placing = Placing { seat: args.seat.clone(), ..Placing::default() };
    match decision {
        Decision::Go(_, name) if args.print => Ok(Outcome::text(name + "\n")),
        Decision::Go(lane, _) => focus::go(ctx, &lane, &placing, false),
        Decision::Leave => Ok(Outcome::done()),
        _ if args.print => Ok(Outcome::done()),
        Decision::New(name) => {
            let name = Some(name).filter(|name| !name.is_empty());
            open::run(&open::Args { name, ask: false, making: Making::default(), placing }, ctx)
        }
        Decision::Close(name) => close::run(&close::Args { name: Some(name), seat: args.seat.clone() }, ctx),
        Decision::Drop(name) => drop::run(&drop::Args { name }, ctx),
        Decision::Reap => reap::run(&reap::Args::default(), ctx),
    }
}
