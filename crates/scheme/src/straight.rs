//! Straight-line code, the language between the core and C: every intermediate value has a name.
//!
//! ```text
//! procedure = clause …            clause = parameters, block
//! block = statement … end
//! statement = local := R | effect R | closures (local procedure) …
//!           | mark scope | release scope local … | keep atom      (after `regions` only)
//!           | turns scope | again scope                           (after `regions` only)
//! R = atom | primitive atom … | call atom atom … | global | global := atom | block
//! end = return R | if test block block | loops (label parameters block) … block | go label atom …
//! atom = local | constant | procedure without captured variables
//! ```

use crate::core::{Const, Global, Var};
use crate::prims::Prim;
use allod_scheme_datum::Place;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A procedure of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcId(pub u32);

/// What needs no computation.
#[derive(Clone, Debug)]
pub enum Atom {
    /// A local.
    Local(Var),
    /// A constant.
    Const(Const),
    /// A global procedure.
    Proc(ProcId),
    /// A primitive as a procedure.
    PrimValue(&'static Prim),
}

/// What computes one value.
#[derive(Debug)]
pub enum Rhs {
    /// What is there already.
    Atom(Atom),
    /// A primitive's work.
    Prim(&'static Prim, Vec<Atom>, Place),
    /// A call; of a clause of a procedure, where it is known.
    Call(Atom, Option<(ProcId, usize)>, Vec<Atom>, Place),
    /// The value of a global.
    Global(Global),
    /// Gives a global a value; `true` for its definition.
    SetGlobal(Global, Atom, bool),
    /// A block whose `return` gives the value.
    Block(Box<Block>),
}

/// One step.
#[derive(Debug)]
pub enum Stmt {
    /// Names a value; without a name it is not needed. With the locals that are alive afterwards, where
    /// the value comes from a call.
    Let(Option<Var>, Rhs, Vec<Var>),
    /// Makes closures that may capture each other.
    Closures(Vec<(Var, ProcId)>),
    /// Begins or ends a scope.
    Scope(Step),
}

/// A step of the `regions` pass.
#[derive(Clone, Debug)]
pub enum Step {
    /// A scope begins: how far the region is filled is remembered.
    Mark(u32),
    /// The scope that the turns of a loop share: its mark is declared, and taken by `Again`.
    Turns(u32),
    /// The mark that turns share is taken again, because what was made since has been dropped, or is old from now on.
    Again(u32),
    /// What was made since its mark is dropped, unless one of these locals is an object.
    Release(u32, Vec<Var>),
    /// If this is an object, all scopes end without dropping anything.
    Keep(Atom),
}

/// How a block ends.
#[derive(Debug)]
pub enum End {
    /// With a value.
    Return(Rhs),
    /// With one of two blocks.
    If(Rhs, Box<Block>, Box<Block>),
    /// With labels and a block that goes to them.
    Loops(Vec<Label>, Box<Block>),
    /// At a label.
    Go(Var, Vec<Atom>),
}

/// A place to go to.
#[derive(Debug)]
pub struct Label {
    /// Its name.
    pub name: Var,
    /// What it takes.
    pub params: Vec<Var>,
    /// What is done there.
    pub body: Block,
    /// The locals that are alive there.
    pub live: Vec<Var>,
}

/// Steps and an end.
#[derive(Debug)]
pub struct Block {
    /// The steps.
    pub stmts: Vec<Stmt>,
    /// The end.
    pub end: End,
}

impl Block {
    /// A block that does nothing.
    pub fn empty() -> Block {
        Block { stmts: Vec::new(), end: End::Return(Rhs::Atom(Atom::Const(Const::Unspecified))) }
    }

    /// The block, which leaves an empty one.
    pub fn take(&mut self) -> Block {
        std::mem::replace(self, Block::empty())
    }
}

/// Calls `each` for every block in a block, itself first.
pub fn each_block<'b>(block: &'b Block, each: &mut dyn FnMut(&'b Block)) {
    each(block);
    for stmt in &block.stmts {
        if let Stmt::Let(_, Rhs::Block(inner), _) = stmt {
            each_block(inner, each);
        }
    }
    match &block.end {
        End::Return(Rhs::Block(inner)) => each_block(inner, each),
        End::If(test, then, other) => {
            if let Rhs::Block(inner) = test {
                each_block(inner, each);
            }
            each_block(then, each);
            each_block(other, each);
        }
        End::Loops(labels, body) => {
            labels.iter().for_each(|label| each_block(&label.body, each));
            each_block(body, each);
        }
        End::Return(_) | End::Go(..) => {}
    }
}

/// Calls `each` for all that computes values in a block.
pub fn each_rhs<'b>(block: &'b Block, each: &mut dyn FnMut(&'b Rhs)) {
    each_block(block, &mut |block| {
        for stmt in &block.stmts {
            if let Stmt::Let(_, rhs, _) = stmt {
                each(rhs);
            }
        }
        match &block.end {
            End::Return(rhs) | End::If(rhs, ..) => each(rhs),
            End::Loops(..) | End::Go(..) => {}
        }
    });
}

/// Whether a block itself takes memory, so that a turn or a call of it needs a safe point.
pub fn takes_memory(block: &Block, flow: &Flow) -> bool {
    let rhs_takes = |rhs: &Rhs| match rhs {
        Rhs::Prim(prim, ..) => prim.takes_memory(),
        Rhs::Block(block) => takes_memory(block, flow),
        _ => false,
    };
    let stmts = block.stmts.iter().any(|stmt| match stmt {
        Stmt::Let(_, rhs, _) => rhs_takes(rhs),
        Stmt::Closures(all) => all.iter().any(|(_, id)| flow.procs[id.0 as usize].open),
        Stmt::Scope(_) => false,
    });
    stmts
        || match &block.end {
            End::Return(rhs) => rhs_takes(rhs),
            End::If(test, then, other) => {
                rhs_takes(test) || takes_memory(then, flow) || takes_memory(other, flow)
            }
            End::Loops(labels, body) => {
                takes_memory(body, flow)
                    || labels.iter().any(|label| takes_memory(&label.body, flow))
            }
            End::Go(..) => false,
        }
}

/// One clause of a procedure.
#[derive(Debug)]
pub struct Code {
    /// All parameters; the list of further arguments comes last.
    pub params: Vec<Var>,
    /// There is such a list.
    pub rest: bool,
    /// What is done.
    pub body: Block,
}

/// A procedure.
#[derive(Debug)]
pub struct Proc {
    /// Its name in messages.
    pub name: Rc<str>,
    /// Where it stands.
    pub at: Place,
    /// One for each number of arguments.
    pub clauses: Vec<Code>,
    /// The local it is bound to.
    pub var: Option<Var>,
    /// The locals it captures.
    pub free: Vec<Var>,
    /// It needs a closure at run time.
    pub open: bool,
}

/// A program of straight-line code.
#[derive(Debug, Default)]
pub struct Flow {
    /// All procedures.
    pub procs: Vec<Proc>,
    /// The top-level forms.
    pub tops: Vec<Block>,
    /// How many of them are the prelude's.
    pub prelude: usize,
    /// Locals that are bound to procedures.
    pub proc_of: HashMap<Var, ProcId>,
    /// Globals that are procedures, and always have been.
    pub known: HashMap<Global, ProcId>,
    /// Locals that are flonums without a box.
    pub raw: HashSet<Var>,
    /// Locals that are values but never objects.
    pub immediate: HashSet<Var>,
    /// Clauses that come to no safe point, nor does what they call.
    pub quiet: HashSet<(ProcId, usize)>,
    /// Clauses that give flonums without a box.
    pub raw_results: HashSet<(ProcId, usize)>,
}
