//! What each clause of each procedure does, whoever calls it.

use super::origins::CONSTANT;
use super::walk::{Known, Summary, Walk};
use super::{body, clauses};
use crate::core::Program;
use crate::straight::{Flow, Rhs};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// What is known before anything is walked through.
pub(super) fn before<'a>(program: &Program, flow: &'a Flow) -> Known<'a> {
    let labels = super::labels(flow);
    let callees = super::callees::run(program, flow, &labels);
    Known {
        flow,
        labels: Rc::new(labels),
        summaries: HashMap::new(),
        constants: Rc::new(super::constants(flow)),
        callees: Rc::new(callees),
        unkept: HashSet::new(),
        kept: None,
        plain: HashMap::new(),
    }
}

/// Walks through all clauses until nothing changes. All begin by doing nothing and never ending. These stores
/// of numbers are like others.
pub(super) fn run<'a>(before: &Known<'a>, unkept: HashSet<*const Rhs>) -> Known<'a> {
    let flow = before.flow;
    let mut known = Known {
        flow,
        labels: before.labels.clone(),
        summaries: HashMap::new(),
        constants: before.constants.clone(),
        callees: before.callees.clone(),
        unkept,
        kept: None,
        plain: HashMap::new(),
    };
    loop {
        let mut changed = false;
        for clause in clauses(flow) {
            let mut walk = Walk::clause(&known, clause);
            let ends = walk.block(body(flow, clause));
            let found = Summary { done: walk.done, ends };
            if known.summaries.get(&clause) != Some(&found) {
                known.summaries.insert(clause, found);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let (mut kept, mut plain) = (HashSet::new(), HashMap::new());
    let within = clauses(flow).map(|clause| (Walk::clause(&known, clause), body(flow, clause)));
    let tops = flow.tops.iter().map(|top| (Walk::scope(&known), top));
    for (mut walk, block) in within.chain(tops) {
        walk.block(block);
        walk.numbers_stored(block, &mut kept);
        plain.extend(walk.locals.iter().filter(|(_, is)| **is & !CONSTANT == 0));
    }
    known.kept = Some(kept);
    known.plain = plain;
    known
}
