//! Which store a command uses.

use crate::failure::Failure;
use allod_lab::inprocess::child_of;
use allod_lab::store::{Place, Store};
use std::path::PathBuf;

/// Where runs are kept.
#[derive(clap::Args)]
pub struct Keep {
    /// Keep runs in this file; none: nowhere [default: allod/runs.sqlite in XDG_DATA_HOME or ~/.local/share]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Do not keep this run: the same as --store none
    #[arg(long, conflicts_with = "store")]
    no_store: bool,
}

impl Keep {
    /// Where that is.
    pub fn place(&self) -> Place {
        match &self.store {
            _ if self.no_store => Place::None,
            Some(file) => Place::from_option(file.clone()),
            None => Place::Own,
        }
    }
}

/// Opens the store before anything is measured. A store named by the user must work; if the default
/// one cannot be written, a message says so and the run is not kept.
pub fn open_before(place: &Place) -> Result<Option<Store>, Failure> {
    // A child is being measured: its parent keeps the results.
    if *place == Place::None || child_of().is_some() {
        return Ok(None);
    }
    let opened = match place.file() {
        Ok(Some(file)) => Store::open(&file).map(Some),
        Ok(None) => Ok(None),
        Err(why) => Err(why),
    };
    match opened {
        Err(why) if *place == Place::Own => {
            eprintln!("allod: this run will not be kept: {why}");
            Ok(None)
        }
        other => other.map_err(Failure::usage),
    }
}

/// The existing store, to read.
pub fn open_to_read(place: &Place) -> Result<Store, Failure> {
    Store::open_to_read(&file(place)?).map_err(Failure::usage)
}

/// The existing store, to change.
pub fn open_to_change(place: &Place) -> Result<Store, Failure> {
    open_to_read(place)?;
    Store::open(&file(place)?).map_err(Failure::usage)
}

fn file(place: &Place) -> Result<PathBuf, Failure> {
    let nowhere =
        || Failure::usage("--store none keeps nothing: there is nothing to look up".into());
    place.file().map_err(Failure::usage)?.ok_or_else(nowhere)
}
