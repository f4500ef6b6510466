//! Scopes that the turns of a loop share: what a turn replaces is dropped.
//!
//! ```text
//! turns 1                            (declares the mark)
//! label loop (i l)
//!   if (= i 0) …                     (here the last l may be needed)
//!     release 1, again 1             (here no l is: on to the next turn with a new one)
//!     l2 := call-known make
//!     go loop i l2
//! again 1, go loop i l1              (the first turn)
//! ```
//! A turn's values cannot be dropped at its end, where the next one needs some of them, but often at a later place, where those
//! are out of use, too. Such a place is right if no local that is needed there leads to anything that
//! was made since the mark, whichever turns went before. So one walk goes through all turns, until nothing changes.
//! Paths that leave the loop are none of its business: the mark is taken anew before the loop is entered again.
//!
//! Scopes end in the reverse order in which they began. Therefore the mark is taken where the first turn begins, after the
//! code before it, in which an older scope may end; and such a place lies within no scope of the turn's own. If what the
//! first turn is given is changed in the loop, the mark is taken before it is made, and no older scope ends there.

use super::Fate;
use super::place::{Edit, Pass, out_of_use};
use super::walk::Walk;
use crate::core::Var;
use crate::straight::{Block, End, Label, Rhs, Stmt};
use std::collections::{HashMap, HashSet};

/// A loop, as far as its turns are concerned.
#[derive(Default)]
struct Turns<'b> {
    /// Blocks that lead to another turn.
    on: Vec<&'b Block>,
    /// Blocks that do not.
    out: HashSet<*const Block>,
}

/// Labels by their names.
type Names = HashSet<Var>;

fn names(labels: &[Label]) -> Names {
    labels.iter().map(|label| label.name).collect()
}

/// Whether a path through a block leads to one of these labels.
fn leads(block: &Block, to: &Names) -> bool {
    match &block.end {
        End::Return(Rhs::Block(inner)) => leads(inner, to),
        End::Return(_) => false,
        End::If(_, then, other) => leads(then, to) || leads(other, to),
        End::Loops(labels, body) => {
            leads(body, to) || labels.iter().any(|label| leads(&label.body, to))
        }
        End::Go(label, _) => to.contains(label),
    }
}

impl<'b> Turns<'b> {
    /// Finds out which blocks lead on. A loop within counts as a whole.
    fn find(&mut self, block: &'b Block, to: &Names) {
        if !leads(block, to) {
            self.out.insert(block);
            return;
        }
        self.on.push(block);
        match &block.end {
            End::Return(Rhs::Block(inner)) => self.find(inner, to),
            End::If(_, then, other) => {
                self.find(then, to);
                self.find(other, to);
            }
            End::Loops(labels, body) => {
                let to: Names = to.union(&names(labels)).copied().collect();
                self.find(body, &to);
                labels.iter().for_each(|label| self.find(&label.body, &to));
            }
            End::Return(_) | End::Go(..) => {}
        }
    }
}

impl Pass<'_> {
    /// Drops what the turns of loops replace, which are the end of a block.
    pub(super) fn turns(&mut self, block: &Block, labels: &[Label], body: &Block) {
        let to = names(labels);
        let mut turns = Turns::default();
        labels.iter().for_each(|label| turns.find(&label.body, &to));
        if !turns.on.iter().any(|block| self.left.contains(&std::ptr::from_ref(*block))) {
            return;
        }
        for before in [None, Some(body)] {
            let walk = Walk::turns(self.known, labels, before, turns.out.clone());
            if walk.done.wild.is_some() || walk.done.leak.is_some() {
                continue;
            }
            let id = self.scopes;
            let mut found = Vec::new();
            for label in labels {
                self.replaced(&label.body, id, &walk, &to, &Names::new(), Vec::new(), &mut found);
            }
            if found.is_empty() {
                continue;
            }
            self.scopes += 1;
            let end = block.stmts.len();
            found.push((block, Edit::Turns(end, id)));
            if before.is_some() {
                self.early.insert(block);
                found.push((block, Edit::Again(end, id)));
            } else {
                enter(body, id, &to, &mut found);
            }
            for (block, edit) in found {
                self.edits.entry(block).or_default().push(edit);
            }
            self.replaces(&turns);
            return;
        }
    }

    /// Finds on each path to another turn the last place where nothing is needed that was made since the mark: turns that leave
    /// the loop do not come there. Says whether all such paths have one.
    #[allow(clippy::too_many_arguments)]
    fn replaced(
        &mut self,
        block: &Block,
        id: u32,
        walk: &Walk<'_>,
        to: &Names,
        within: &Names,
        mut open: Vec<u32>,
        found: &mut Vec<(*const Block, Edit)>,
    ) -> bool {
        if !leads(block, to) {
            return true;
        }
        let mut last = None;
        let (uses, bound) = (self.uses(block), bound(block));
        let edits = self.edits.get(&std::ptr::from_ref(block)).cloned().unwrap_or_default();
        for i in 0..=block.stmts.len() {
            for edit in &edits {
                if matches!(edit, Edit::Release(at, ..) if *at == i)
                    && let Edit::Release(_, ended, _) = edit
                {
                    open.retain(|id| id != ended);
                }
            }
            // What the turns of a loop within need, a block that leads to them need not name.
            if open.is_empty()
                && !leads(block, within)
                && let Some(numbers) = out_of_use(walk, |var| {
                    // All turns have been walked through: what the rest of this one binds is met already.
                    uses.get(var).is_some_and(|last| *last >= i)
                        && bound.get(var).is_none_or(|at| *at < i)
                })
            {
                last = Some((i, numbers));
            }
            open.extend(edits.iter().filter_map(|edit| match edit {
                Edit::Mark(at, id) if *at == i => Some(*id),
                _ => None,
            }));
        }
        let before = found.len();
        let later = match &block.end {
            End::Return(Rhs::Block(inner)) => {
                self.replaced(inner, id, walk, to, within, open, found)
            }
            End::If(_, then, other) => {
                let then = self.replaced(then, id, walk, to, within, open.clone(), found);
                self.replaced(other, id, walk, to, within, open, found) && then
            }
            End::Loops(labels, body) => {
                let within: Names = within.union(&names(labels)).copied().collect();
                let body = self.replaced(body, id, walk, to, &within, open.clone(), found);
                labels.iter().fold(body, |all, label| {
                    self.replaced(&label.body, id, walk, to, &within, open.clone(), found) && all
                })
            }
            End::Return(_) | End::Go(..) => false,
        };
        if later {
            return true;
        }
        let Some((i, numbers)) = last else { return false };
        found.truncate(before);
        found.push((block, Edit::Release(i, id, numbers)));
        found.push((block, Edit::Again(i, id)));
        true
    }

    /// Says what becomes of the objects that the turns make.
    fn replaces(&mut self, turns: &Turns<'_>) {
        let mut sites = Vec::new();
        for block in &turns.on {
            block.stmts.iter().for_each(|stmt| self.sites_in(stmt, &mut sites));
            if let End::If(test, ..) = &block.end {
                self.sites(test, &mut sites);
            }
        }
        for site in sites {
            let fate = self.regions.fates.entry(site).or_insert(Fate::Replaced);
            if matches!(fate, Fate::Moved(_)) {
                *fate = Fate::Replaced;
            }
        }
    }
}

/// For each local that a block binds the step in which it does; the end is one more.
fn bound(block: &Block) -> HashMap<Var, usize> {
    let mut found = HashMap::new();
    for (i, stmt) in block.stmts.iter().enumerate() {
        match stmt {
            Stmt::Let(var, rhs, _) => {
                found.extend(var.map(|var| (var, i)));
                if let Rhs::Block(inner) = rhs {
                    binds(inner, i, &mut found);
                }
            }
            Stmt::Closures(all) => found.extend(all.iter().map(|(var, _)| (*var, i))),
            Stmt::Scope(_) => {}
        }
    }
    let end = block.stmts.len();
    match &block.end {
        End::Return(Rhs::Block(inner)) => binds(inner, end, &mut found),
        End::If(test, then, other) => {
            if let Rhs::Block(inner) = test {
                binds(inner, end, &mut found);
            }
            binds(then, end, &mut found);
            binds(other, end, &mut found);
        }
        End::Loops(labels, body) => {
            for label in labels {
                found.extend(label.params.iter().map(|param| (*param, end)));
                binds(&label.body, end, &mut found);
            }
            binds(body, end, &mut found);
        }
        End::Return(_) | End::Go(..) => {}
    }
    found
}

fn binds(block: &Block, step: usize, found: &mut HashMap<Var, usize>) {
    found.extend(bound(block).into_keys().map(|var| (var, step)));
}

/// Takes the mark wherever the first turn begins.
fn enter(block: &Block, id: u32, to: &Names, found: &mut Vec<(*const Block, Edit)>) {
    match &block.end {
        End::Return(Rhs::Block(inner)) => enter(inner, id, to, found),
        End::If(_, then, other) => {
            enter(then, id, to, found);
            enter(other, id, to, found);
        }
        End::Loops(labels, body) => {
            enter(body, id, to, found);
            labels.iter().for_each(|label| enter(&label.body, id, to, found));
        }
        End::Go(label, _) if to.contains(label) => {
            found.push((block, Edit::Again(block.stmts.len(), id)));
        }
        End::Return(_) | End::Go(..) => {}
    }
}
