//! What there is to choose from, narrowed down by what was typed.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use crate::lane::listing::View;
use crate::ui;

/// Lanes, what was typed, and which one is chosen.
pub(super) struct Choice {
    views: Vec<View>,
    query: String,
    fitting: Vec<usize>,
    at: usize,
    matcher: Matcher,
}

impl Choice {
    /// All lanes: who waits first, the newest wait before the others.
    pub(super) fn new(mut views: Vec<View>, query: &str) -> Self {
        views.sort_by_key(|view| {
            let activity = view.activity.as_ref();
            let rank = match activity.map(|activity| activity.state) {
                Some("waiting") => 0,
                Some("done") => 1,
                Some(_) => 2,
                None if view.pane.is_some() => 3,
                None => 4,
            };
            let since = activity.and_then(|activity| activity.since).or(view.committed);
            (rank, std::cmp::Reverse(since))
        });
        let matcher = Matcher::new(Config::DEFAULT);
        let mut choice = Choice { views, query: String::new(), fitting: Vec::new(), at: 0, matcher };
        choice.type_text(query);
        choice
    }

    /// What was typed.
    pub(super) fn query(&self) -> &str {
        &self.query
    }

    /// The lanes that fit, best first.
    pub(super) fn fitting(&self) -> impl Iterator<Item = &View> {
        self.fitting.iter().map(|index| &self.views[*index])
    }

    /// How many fit, and how many there are.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.fitting.len(), self.views.len())
    }

    /// Which of the fitting ones is chosen.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// The chosen lane.
    pub(super) fn chosen(&self) -> Option<&View> {
        self.fitting.get(self.at).map(|index| &self.views[*index])
    }

    /// Moves the choice, without leaving the list.
    pub(super) fn step(&mut self, by: isize) {
        let last = self.fitting.len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(by).min(last);
    }

    /// Adds to what was typed.
    pub(super) fn type_text(&mut self, text: &str) {
        self.query.push_str(&ui::plain(text).replace(['\n', '\t'], " "));
        self.narrow();
    }

    /// Takes the last character back.
    pub(super) fn erase(&mut self) {
        self.query.pop();
        self.narrow();
    }

    /// Takes everything back.
    pub(super) fn clear(&mut self) {
        self.query.clear();
        self.narrow();
    }

    fn narrow(&mut self) {
        let pattern = Pattern::parse(&self.query, CaseMatching::Smart, Normalization::Smart);
        let mut buffer = Vec::new();
        let mut scored: Vec<(u32, usize)> = Vec::new();
        for (index, view) in self.views.iter().enumerate() {
            let text = format!("{}/{} {} {}", view.repo, view.name, view.agent, state(view));
            if let Some(score) = pattern.score(Utf32Str::new(&text, &mut buffer), &mut self.matcher) {
                scored.push((score, index));
            }
        }
        // Stable: among equals the order of waiting stays.
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        self.fitting = scored.into_iter().map(|(_, index)| index).collect();
        self.at = 0;
    }
}

/// What a lane is doing, in a word.
pub(super) fn state(view: &View) -> &'static str {
    match (&view.activity, &view.pane) {
        (Some(activity), _) => activity.state,
        (None, Some(_)) => "open",
        (None, None) => view.state.unwrap_or("?"),
    }
}
