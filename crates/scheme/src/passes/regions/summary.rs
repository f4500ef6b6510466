//! What each clause of each procedure does, whoever calls it.

use super::origins::CONSTANT;
use super::walk::{Known, Summary, Walk};
use super::{body, clauses};
use crate::core::Program;
use crate::straight::Flow;
use std::collections::{HashMap, HashSet};

/// Walks through all clauses until nothing changes. All begin by doing nothing and never ending.
pub(super) fn run<'a>(program: &Program, flow: &'a Flow) -> Known<'a> {
    let labels = super::labels(flow);
    let callees = super::callees::run(program, flow, &labels);
    let constants = super::constants(flow);
    let summaries = HashMap::new();
    let plain = HashMap::new();
    let mut known = Known { flow, labels, summaries, constants, callees, kept: None, plain };
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
