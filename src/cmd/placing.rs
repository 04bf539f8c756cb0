//! The flags that say where a lane's pane goes, and whose key press it was.

use crate::config::{Backend, Place};
use crate::ctx::Ctx;
use crate::mux::{Placement, Wish};

/// Where the pane goes.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Where")]
pub struct Placing {
    /// In a new window (WezTerm: tab)
    #[arg(long, group = "place")]
    pub window: bool,
    /// In a split of the caller's pane: right or below
    #[arg(long, group = "place", value_name = "SIDE")]
    pub pane: Option<Side>,
    /// In a session (WezTerm: workspace) named after the lane
    #[arg(long, group = "place")]
    pub session: bool,
    /// In a window of the desktop
    #[arg(long, group = "place")]
    pub os_window: bool,
    /// In place of scruff, without a multiplexer
    #[arg(long, group = "place")]
    pub here: bool,
    /// Without taking the screen
    #[arg(short, long)]
    pub background: bool,
    /// A second pane for a lane that runs already
    #[arg(long)]
    pub again: bool,
    /// Whose multiplexer and pane
    #[command(flatten)]
    pub seat: Seat,
}

/// A side of a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Side {
    /// To the right.
    Right,
    /// Below.
    Below,
}

/// Which multiplexer, and where in it the caller sits.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Where")]
pub struct Seat {
    /// Which multiplexer
    #[arg(long, value_enum, value_name = "NAME")]
    pub mux: Option<Backend>,
    /// The pane a key was pressed in (bindings: #{pane_id})
    #[arg(long, value_name = "ID")]
    pub pane_id: Option<String>,
    /// The client a key was pressed in (bindings: #{client_name})
    #[arg(long, value_name = "NAME")]
    pub client: Option<String>,
}

impl Seat {
    /// The wish that the multiplexer is chosen by.
    pub fn wish(&self) -> Wish {
        Wish { mux: self.mux, pane_id: self.pane_id.clone(), client: self.client.clone() }
    }
}

impl Placing {
    /// The placement, with `default` where no flag says otherwise.
    pub fn placement(&self, ctx: &Ctx, default: Place) -> Placement {
        Placement {
            place: self.place().unwrap_or(default),
            background: self.background || ctx.config().mux.background,
            again: self.again,
            after: ctx.config().mux.after,
            wish: self.seat.wish(),
        }
    }

    fn place(&self) -> Option<Place> {
        match self.pane {
            Some(Side::Right) => return Some(Place::PaneRight),
            Some(Side::Below) => return Some(Place::PaneBelow),
            None => {}
        }
        let flags = [
            (self.window, Place::Window),
            (self.session, Place::Session),
            (self.os_window, Place::OsWindow),
            (self.here, Place::Here),
        ];
        flags.into_iter().find_map(|(set, place)| set.then_some(place))
    }
}
