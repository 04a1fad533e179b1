//! The real binary, on a real MariaDB and libvirt's test driver.

mod deadline;
mod documents;
mod evidence;
mod exits;
mod hosts;
mod keys;
mod scopes;
mod settle;
mod signals;
mod terminal;
