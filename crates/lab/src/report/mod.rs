//! Reports: the results of one or several runs, for people and for other programs.
//!
//! Everything is made from [`Report`]s from any source: as [tables](tables()) for the terminal or in
//! Markdown, as one [page](html::page) with charts, or as [observations](observations::csv) for a program of
//! statistics. A [`Scorecard`] says in a few lines where a suite stands, and [`readme`] keeps a table in a
//! Markdown page.
//!
//! ```text
//!  Given (a label, a Report) ──▶ Suite (rows and subjects, ratios of any two) ──▶ Scorecard ──▶ tables
//!                                                                         └─────▶ charts ─────▶ page
//! ```
//!
//! ```
//! use allod_lab::driver::Seen;
//! use allod_lab::model::Report;
//! use allod_lab::report::{Given, html, scorecards};
//!
//! let report = Report::of(Seen::default(), 1); // or Report::read(file)?, or from the store
//! let runs = [Given { label: "run 1".into(), report }];
//! assert!(html::page(&runs).starts_with("<!DOCTYPE html>"));
//! assert!(scorecards(&runs).is_empty(), "nothing was measured");
//! ```

pub mod chart;
mod given;
pub mod html;
pub mod observations;
pub mod readme;
mod scorecard;
mod suite;
mod tables;
#[cfg(test)]
mod tests;

pub use given::{Given, read};
pub use scorecard::{AgainstBest, Line, Mean, Milestone, Reached, Scorecard};
pub use suite::{Share, Suite};
pub use tables::{Part, scorecards, tables};

#[cfg(doc)]
use crate::model::Report;
