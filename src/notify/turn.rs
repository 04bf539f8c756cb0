//! What an event means for a lane: who asks, whether a turn is over, what goes up or comes down.
//! Nothing here looks at the world.

use std::collections::BTreeSet;

use crate::activity::Activity;
use crate::ui;

/// Who waits for the user's answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asker {
    /// The main thread.
    Main,
    /// Nobody really: the turn is long over.
    Idle,
    /// A sub-agent.
    Agent(String),
}

impl Asker {
    /// One line of a marker.
    pub fn to_line(&self) -> String {
        match self {
            Asker::Main => "main".to_owned(),
            Asker::Idle => "idle".to_owned(),
            Asker::Agent(id) => format!("agent {}", ui::plain(id).replace('\n', " ")),
        }
    }

    /// Reads what [`Asker::to_line`] wrote.
    pub fn of_line(line: &str) -> Option<Self> {
        match line {
            "main" => Some(Asker::Main),
            "idle" => Some(Asker::Idle),
            _ => line.strip_prefix("agent ").map(|id| Asker::Agent(id.to_owned())),
        }
    }
}

/// Something that a client reported, or that it said when it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A question for permission, of a sub-agent's or of the main thread's.
    Asks(Option<String>),
    /// Word of a question, maybe of one that is known.
    Reminds,
    /// Nothing has happened for a while after a turn.
    Idles,
    /// A turn is over.
    Stops {
        /// Whether background agents go on with the work.
        in_flight: bool,
    },
    /// A turn is over by an error.
    Fails,
    /// A turn begins.
    Begins {
        /// Whether the client prompted itself.
        by_harness: bool,
    },
    /// A tool of the main thread has run.
    Works,
    /// The user cut the turn short.
    Interrupted,
    /// A sub-agent has got its answer, or has ended.
    AgentGoesOn(String),
    /// The conversation is over.
    Ends {
        /// Whether the client goes on with another one.
        goes_on: bool,
    },
    /// The client was asked whether it still asks, and it does not.
    Found {
        /// Whether it works.
        busy: bool,
    },
}

/// What becomes of the lane's banner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It says that the lane waits.
    Ask,
    /// It says that the turn is over.
    Done,
    /// It says that the turn has failed.
    Failed,
    /// It comes down.
    Down,
    /// There was no question, but word of an earlier turn may be up, and comes down.
    Stale,
}

/// How a conversation stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// Who asks.
    pub askers: BTreeSet<Asker>,
    /// Whether background agents are waited for.
    pub held: bool,
    /// The turn that is over, by its id; empty where the client gives none.
    pub ended: Option<String>,
    /// What the lane does.
    pub activity: Option<Activity>,
}

impl Turn {
    /// Takes an event in. `id` is the turn that it belongs to.
    pub fn take(&mut self, event: &Event, id: Option<&str>) -> Option<Sign> {
        match event {
            Event::Asks(None) => {
                self.ended = None;
                Some(self.ask(Asker::Main))
            }
            Event::Asks(Some(agent)) => Some(self.ask(Asker::Agent(agent.clone()))),
            Event::Reminds if self.waits() => Some(Sign::Ask),
            Event::Reminds => Some(self.ask(Asker::Main)),
            Event::Idles => self.idle(),
            Event::Stops { in_flight } => self.stop(*in_flight, id),
            Event::Fails => self.over(id, Sign::Failed),
            Event::Begins { by_harness } => self.begin(*by_harness),
            Event::Works => self.work(id),
            Event::Interrupted => self.interrupt(id),
            Event::AgentGoesOn(agent) => self.drop_askers(|asker| *asker == Asker::Agent(agent.clone())),
            Event::Ends { goes_on } => self.end(*goes_on),
            Event::Found { busy } => self.found(*busy),
        }
    }

    /// Whether somebody asks a question.
    pub fn waits(&self) -> bool {
        self.askers.iter().any(|asker| *asker != Asker::Idle)
    }

    fn ask(&mut self, asker: Asker) -> Sign {
        self.askers.remove(&Asker::Idle);
        self.askers.insert(asker);
        self.activity = Some(Activity::Waiting);
        Sign::Ask
    }

    /// It is no question: what the lane does stays as it is.
    fn idle(&mut self) -> Option<Sign> {
        let news = !self.held && self.askers.is_empty();
        news.then(|| {
            self.askers.insert(Asker::Idle);
            Sign::Ask
        })
    }

    fn stop(&mut self, in_flight: bool, id: Option<&str>) -> Option<Sign> {
        self.held = in_flight;
        if !in_flight {
            return self.over(id, Sign::Done);
        }
        self.rest();
        None
    }

    /// The main thread's turn is over. A question of a sub-agent's outlives it.
    fn over(&mut self, id: Option<&str>, sign: Sign) -> Option<Sign> {
        self.askers.retain(is_agent);
        self.ended = Some(id.unwrap_or_default().to_owned());
        self.activity = Some(if self.waits() { Activity::Waiting } else { Activity::Done });
        (!self.waits()).then_some(sign)
    }

    fn begin(&mut self, by_harness: bool) -> Option<Sign> {
        self.ended = None;
        let down = self.drop_askers(|asker| !by_harness || !is_agent(asker));
        self.rest();
        down.or((!self.waits()).then_some(Sign::Stale))
    }

    /// A turn of another id than the one that ended has begun unannounced.
    fn work(&mut self, id: Option<&str>) -> Option<Sign> {
        let over = self.ended.as_deref().is_some_and(|ended| !ended.is_empty() && Some(ended) == id);
        let news = self.ended.is_some() && !over;
        if news {
            self.ended = None;
        }
        let down = self.drop_askers(|asker| !is_agent(asker));
        self.rest();
        down.or((news && !self.waits()).then_some(Sign::Stale))
    }

    fn interrupt(&mut self, id: Option<&str>) -> Option<Sign> {
        self.ended = Some(id.unwrap_or_default().to_owned());
        let down = self.drop_askers(|_| true);
        self.activity = Some(Activity::Done);
        down
    }

    fn end(&mut self, goes_on: bool) -> Option<Sign> {
        let waited = self.waits();
        let down = self.drop_askers(|_| true);
        (self.held, self.ended) = (false, None);
        self.activity = match self.activity {
            Some(_) if waited && goes_on => Some(Activity::Done),
            activity => activity.filter(|_| goes_on),
        };
        down.or(Some(Sign::Stale))
    }

    /// A client that works or rests asks nothing; one that works isn't idle either.
    fn found(&mut self, busy: bool) -> Option<Sign> {
        if !busy && self.waits() && !self.held && self.ended.is_none() {
            self.ended = Some(String::new());
        }
        self.drop_askers(|asker| busy || *asker != Asker::Idle)
    }

    /// Those asked have got their answer. The banner comes down with the last of them.
    fn drop_askers(&mut self, answered: impl Fn(&Asker) -> bool) -> Option<Sign> {
        let before = self.askers.len();
        self.askers.retain(|asker| !answered(asker));
        if self.askers.len() == before {
            return None;
        }
        self.rest();
        self.askers.is_empty().then_some(Sign::Down)
    }

    /// What the lane does as far as this tells.
    fn rest(&mut self) {
        let works = self.held || self.ended.is_none();
        self.activity = Some(match (self.waits(), works) {
            (true, _) => Activity::Waiting,
            (false, true) => Activity::Working,
            (false, false) => Activity::Done,
        });
    }
}

fn is_agent(asker: &Asker) -> bool {
    matches!(asker, Asker::Agent(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Activity::{Done, Waiting, Working};

    /// Plays events of turn `1`; the last one's sign and what the lane does then.
    fn play(events: &[Event]) -> (Option<Sign>, Option<Activity>) {
        let mut turn = Turn::default();
        let sign = events.iter().fold(None, |_, event| turn.take(event, Some("1")));
        (sign, turn.activity)
    }

    const BEGINS: Event = Event::Begins { by_harness: false };
    const HARNESS: Event = Event::Begins { by_harness: true };
    const STOPS: Event = Event::Stops { in_flight: false };
    const HELD: Event = Event::Stops { in_flight: true };
    const ASKS: Event = Event::Asks(None);

    #[test]
    fn a_question_and_its_answer() {
        assert_eq!(play(&[BEGINS, ASKS]), (Some(Sign::Ask), Some(Waiting)));
        assert_eq!(play(&[BEGINS, ASKS, Event::Works]), (Some(Sign::Down), Some(Working)));
        assert_eq!(play(&[BEGINS, ASKS, BEGINS]), (Some(Sign::Down), Some(Working)));
        assert_eq!(play(&[BEGINS, ASKS, STOPS]), (Some(Sign::Done), Some(Done)));
        assert_eq!(play(&[BEGINS, ASKS, Event::Interrupted]), (Some(Sign::Down), Some(Done)));
        assert_eq!(play(&[BEGINS, ASKS, Event::Reminds, Event::Works]), (Some(Sign::Down), Some(Working)));
    }

    #[test]
    fn a_turn_that_fails_says_so() {
        assert_eq!(play(&[BEGINS, Event::Fails]), (Some(Sign::Failed), Some(Done)));
    }

    #[test]
    fn idling_is_no_question_and_comes_down_like_one() {
        assert_eq!(play(&[BEGINS, STOPS, Event::Idles]), (Some(Sign::Ask), Some(Done)));
        assert_eq!(play(&[BEGINS, STOPS, Event::Idles, Event::Idles]), (None, Some(Done)));
        assert_eq!(play(&[BEGINS, STOPS, Event::Idles, BEGINS]), (Some(Sign::Down), Some(Working)));
        assert_eq!(play(&[BEGINS, STOPS, Event::Idles, ASKS, STOPS]), (Some(Sign::Done), Some(Done)));
    }

    #[test]
    fn background_agents_hold_the_end_of_a_turn() {
        assert_eq!(play(&[BEGINS, HELD]), (None, Some(Working)));
        assert_eq!(play(&[BEGINS, HELD, Event::Idles]), (None, Some(Working)));
        assert_eq!(play(&[BEGINS, HELD, HARNESS, STOPS]), (Some(Sign::Done), Some(Done)));
        assert_eq!(play(&[BEGINS, ASKS, HELD]), (None, Some(Waiting)), "a question stays up");
    }

    #[test]
    fn a_sub_agents_question_outlives_the_main_threads_turn() {
        let asked = Event::Asks(Some("a".to_owned()));
        let answered = Event::AgentGoesOn("a".to_owned());
        assert_eq!(play(&[BEGINS, asked.clone(), HELD]), (None, Some(Waiting)));
        assert_eq!(play(&[BEGINS, asked.clone(), STOPS]), (None, Some(Waiting)));
        assert_eq!(play(&[BEGINS, asked.clone(), Event::Works]), (None, Some(Waiting)));
        assert_eq!(play(&[BEGINS, asked.clone(), HARNESS]), (None, Some(Waiting)));
        assert_eq!(play(&[BEGINS, asked.clone(), HELD, answered.clone()]), (Some(Sign::Down), Some(Working)));
        assert_eq!(play(&[BEGINS, asked.clone(), STOPS, answered.clone()]), (Some(Sign::Down), Some(Done)));
        let reminded = [BEGINS, asked.clone(), HELD, Event::Reminds, answered.clone()];
        assert_eq!(play(&reminded), (Some(Sign::Down), Some(Working)), "a late word of the same question");
        let other = Event::AgentGoesOn("b".to_owned());
        assert_eq!(play(&[BEGINS, asked.clone(), other]), (None, Some(Waiting)));
        assert_eq!(play(&[BEGINS, asked, ASKS, answered]), (None, Some(Waiting)));
    }

    #[test]
    fn a_turn_that_begins_unannounced_is_noticed_by_its_id() {
        let mut turn = Turn::default();
        for event in [BEGINS, STOPS] {
            turn.take(&event, Some("1"));
        }
        turn.take(&Event::Works, Some("1"));
        assert_eq!(turn.activity, Some(Done), "word that came late");
        assert_eq!(turn.take(&Event::Works, Some("2")), Some(Sign::Stale));
        assert_eq!((turn.activity, turn.ended), (Some(Working), None));
    }

    #[test]
    fn a_client_that_was_asked_knows_better() {
        assert_eq!(play(&[BEGINS, ASKS, Event::Found { busy: false }]), (Some(Sign::Down), Some(Done)));
        assert_eq!(play(&[BEGINS, ASKS, Event::Found { busy: true }]), (Some(Sign::Down), Some(Working)));
        assert_eq!(play(&[BEGINS, STOPS, Event::Idles, Event::Found { busy: false }]), (None, Some(Done)));
        assert_eq!(play(&[BEGINS, Event::Found { busy: false }]), (None, Some(Working)));
    }

    #[test]
    fn a_conversation_that_ends_leaves_nothing() {
        let mut turn = Turn::default();
        for event in [BEGINS, ASKS, HELD] {
            turn.take(&event, None);
        }
        let mut cleared = turn.clone();
        assert_eq!(turn.take(&Event::Ends { goes_on: false }, None), Some(Sign::Down));
        assert_eq!(turn, Turn::default());
        cleared.take(&Event::Ends { goes_on: true }, None);
        assert_eq!(cleared, Turn { activity: Some(Done), ..Turn::default() });
    }

    #[test]
    fn askers_are_read_back_and_never_break_a_line() {
        for asker in [Asker::Main, Asker::Idle, Asker::Agent("a b".to_owned())] {
            assert_eq!(Asker::of_line(&asker.to_line()), Some(asker));
        }
        assert!(!Asker::Agent("a\nmain".to_owned()).to_line().contains('\n'));
    }
}
