//! Alerts end to end: real checks of a target on loopback, a clock in the test's hand, and receivers
//! that take what their vendors take. What a kind of message is made of is tested beside `domain`.

mod hostile;
mod mail;
mod order;
mod private;
mod reading;
mod story;
mod threads;
mod tried;
mod unconfigured;
mod wire;
