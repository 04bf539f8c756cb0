//! The desktop's notification service.

#[cfg(not(target_os = "macos"))]
mod dbus;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(not(target_os = "macos"))]
mod signals;

#[cfg(not(target_os = "macos"))]
pub(super) use dbus::Desktop;
#[cfg(target_os = "macos")]
pub(super) use macos::Desktop;
