//! What a person is told: banners, marks, activity.

pub mod client;
mod desk;
mod desktop;
mod going;
mod marks;
mod panes;
mod trill;
