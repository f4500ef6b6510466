//! C from straight-line code.
//!
//! ```text
//! takes  straight-line code with captures and roots
//! gives  one C file for `scheme.h`
//! ```
//! All Scheme procedures are C functions of one signature, so that every tail call is a C tail call:
//!
//! ```text
//! V f<p>_<c>(V *sp, V x0, … V x4)                   a clause: its closure, if it needs one, then arguments
//! V g<p>(V *sp, V self, V argc, V a0, V a1, V a2)   the procedure as a value: chooses the clause
//! ```
//! Arguments that have no register lie at `sp[0]`, `sp[1]` … A call stores what is alive afterwards at
//! `sp[0]` … `sp[n - 1]`, as far as it is not there already, and gives `sp + n` to what it calls.

mod blocks;
mod consts;
mod foreign;
mod inferred;
mod roots;
mod scopes;
mod sites;
mod stubs;
mod text;

use crate::Codegen;
use crate::core::{Const, Program, Var};
use crate::passes::live::SELF;
use crate::passes::types::Types;
use crate::prims::Prim;
use crate::straight::{Atom, Block, Code, End, Flow, ProcId, Rhs, takes_memory};
use allod_scheme_datum::{Node, Number, Place};
use consts::Consts;
use inferred::Inferred;
use roots::Roots;
use sites::Sites;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::path::Path;
use text::{c_string, comment};

/// Arguments in registers beside `sp`.
const REGISTERS: usize = 5;

/// Emits a program; with checks that locals have these types, where there are any.
pub fn run(
    program: &Program,
    flow: &Flow,
    types: Option<&Types>,
    codegen: Codegen,
    file: &Path,
    files: &[String],
) -> String {
    let mut emit = Emit {
        program,
        flow,
        out: String::new(),
        consts: Consts::new(codegen),
        codegen,
        escaped: BTreeSet::new(),
        prim_values: BTreeMap::new(),
        here: None,
        sites: Sites::default(),
        params: HashMap::new(),
        roots: Roots::default(),
        temps: 0,
        inferred: types.map(|types| Inferred { types, files }),
    };
    for (i, proc) in flow.procs.iter().enumerate() {
        for (c, code) in proc.clauses.iter().enumerate() {
            emit.clause(ProcId(i as u32), c, code);
        }
    }
    for (i, top) in flow.tops.iter().enumerate() {
        emit.here = None;
        emit.roots.forget();
        writeln!(emit.out, "static V top{i}({SIGNATURE})\n{{").expect("strings grow");
        emit.block(top, &Dest::Return(false));
        emit.out += "}\n\n";
    }
    emit.finish(file, files)
}

const SIGNATURE: &str = "V *sp SCH_U, V x0 SCH_U, V x1 SCH_U, V x2 SCH_U, V x3 SCH_U, V x4 SCH_U";
const GENERIC: &str = "V *sp SCH_U, V self SCH_U, V argc, V a0 SCH_U, V a1 SCH_U, V a2 SCH_U";

/// Where a block's value goes: from the procedure, or to a C variable; `true` for a double.
enum Dest {
    Return(bool),
    Store(String, bool),
    Nowhere,
}

struct Emit<'a> {
    program: &'a Program,
    flow: &'a Flow,
    out: String,
    consts: Consts,
    codegen: Codegen,
    /// Procedures that are values somewhere.
    escaped: BTreeSet<ProcId>,
    prim_values: BTreeMap<&'static str, &'static Prim>,
    /// The procedure whose clause is being emitted.
    here: Option<ProcId>,
    /// Which lines of C stand for which places.
    sites: Sites,
    /// What labels take.
    params: HashMap<Var, Vec<Var>>,
    /// What the stack of roots holds where code is emitted.
    roots: Roots,
    temps: usize,
    inferred: Option<Inferred<'a>>,
}

impl Emit<'_> {
    fn line(&mut self, line: &str) {
        self.sites.note(self.out.len(), self.here);
        self.out += "    ";
        self.out += line;
        self.out.push('\n');
    }

    fn clause(&mut self, id: ProcId, c: usize, code: &Code) {
        let proc = &self.flow.procs[id.0 as usize];
        self.here = Some(id);
        self.roots.forget();
        let mut slots: Vec<String> = Vec::new();
        if proc.open {
            slots.push("self".into());
        }
        slots.extend(code.params.iter().map(|p| {
            let kind = if self.flow.raw.contains(p) { 'b' } else { 'v' };
            format!("{kind}{}", p.0)
        }));
        let name = comment(&proc.name);
        let hint = if self.is_small_recursion(id, c) { "inline " } else { "" };
        write!(self.out, "/* {name} */\nstatic {hint}V f{}_{c}(V *sp SCH_U", id.0)
            .expect("strings grow");
        for i in 0..REGISTERS {
            let unused = format!("x{i}");
            let name = slots.get(i).unwrap_or(&unused);
            write!(self.out, ", V {name} SCH_U").expect("strings grow");
        }
        self.out += ")\n{\n";
        for (i, name) in slots.iter().enumerate().skip(REGISTERS) {
            self.line(&format!("V {name} SCH_U = sp[{}];", i - REGISTERS));
        }
        for param in code.params.iter().filter(|p| self.flow.raw.contains(p)) {
            self.line(&format!("double v{0} SCH_U = sch_double(b{0});", param.0));
            slots.retain(|slot| *slot != format!("b{}", param.0));
        }
        for param in &code.params {
            self.check_type(*param, proc.at);
        }
        // A body that is a loop has safe points of its own.
        let first = match &code.body {
            Block { stmts, end: End::Loops(_, first) } if stmts.is_empty() => first,
            body => body,
        };
        if code.rest || takes_memory(first, self.flow) {
            self.poll(&slots);
        }
        self.block(&code.body, &Dest::Return(self.flow.raw_results.contains(&(id, c))));
        self.out += "}\n\n";
    }

    /// A safe point.
    fn poll(&mut self, live: &[String]) {
        self.sites.nowhere();
        self.line("if (SCH_UNLIKELY(sch_poll())) {");
        for (i, name) in live.iter().enumerate() {
            self.line(&format!("    sp[{i}] = {name};"));
        }
        self.line(&format!("    sch_safe_point_apart(sp + {});", live.len()));
        for (i, name) in live.iter().enumerate() {
            self.line(&format!("    {name} = sp[{i}];"));
        }
        self.line("}");
    }

    fn temp(&mut self) -> String {
        self.temps += 1;
        format!("t{}", self.temps)
    }

    /// The C variable that keeps a local that is alive over a call.
    fn home(&self, var: Var) -> String {
        if var == SELF { "self".into() } else { format!("v{}", var.0) }
    }

    fn local(&mut self, var: Var) -> String {
        if let Some(here) = self.here {
            let proc = &self.flow.procs[here.0 as usize];
            if proc.open && proc.var == Some(var) {
                return "self".into();
            }
            if let Ok(i) = proc.free.binary_search(&var) {
                return format!("SCH_CAPTURED(self, {i})");
            }
        }
        match self.flow.proc_of.get(&var) {
            Some(id) if !self.flow.procs[id.0 as usize].open => self.closure(*id),
            _ => format!("v{}", var.0),
        }
    }

    /// The static closure of a procedure that captures nothing.
    fn closure(&mut self, id: ProcId) -> String {
        self.escaped.insert(id);
        format!("(V)c{}", id.0)
    }

    fn atom(&mut self, atom: &Atom) -> String {
        match atom {
            Atom::Local(var) => {
                // As a value, whoever gets it may call it.
                if let Some(id) = self.flow.proc_of.get(var) {
                    self.escaped.insert(*id);
                }
                self.local(*var)
            }
            Atom::Const(c) => self.consts.value(c),
            Atom::Proc(id) => self.closure(*id),
            Atom::PrimValue(prim) => {
                self.prim_values.insert(prim.name, prim);
                format!("(V)pc_{}", &prim.c_name()[4..])
            }
        }
    }

    /// A C expression of a double.
    fn double(&mut self, atom: &Atom) -> String {
        match atom {
            Atom::Const(Const::Datum(datum)) => match &datum.node {
                Node::Number(Number::Float(f)) => format!("sch_double({}u)", f.to_bits()),
                _ => unreachable!("unbox gives doubles where they are wanted"),
            },
            atom => self.atom(atom),
        }
    }

    /// The C type of a local.
    fn kind(&self, var: Var) -> &'static str {
        if self.flow.raw.contains(&var) { "double" } else { "V" }
    }

    fn passed(&mut self, argument: &Atom, param: Var) -> String {
        if self.flow.raw.contains(&param) {
            format!("sch_bits({})", self.double(argument))
        } else {
            self.atom(argument)
        }
    }

    fn atoms(&mut self, all: &[Atom]) -> Vec<String> {
        all.iter().map(|a| self.atom(a)).collect()
    }

    /// A C condition.
    fn test(&mut self, rhs: &Rhs) -> String {
        match rhs {
            Rhs::Prim(prim, arguments, at) if prim.is_truth() => self.prim(prim, arguments, *at),
            Rhs::Block(_) | Rhs::Call(..) => {
                let name = self.named(rhs);
                format!("{name} != ALLOD_FALSE")
            }
            rhs => format!("{} != ALLOD_FALSE", self.value(rhs)),
        }
    }

    /// The value of a block, in a C variable.
    fn named(&mut self, rhs: &Rhs) -> String {
        let name = self.temp();
        self.line(&format!("V {name} = 0;"));
        self.line("{");
        self.give(rhs, &Dest::Store(name.clone(), false));
        self.line("}");
        name
    }

    fn prim(&mut self, prim: &'static Prim, arguments: &[Atom], at: Place) -> String {
        if prim.fails() {
            self.sites.at(at);
        }
        let mut all = Vec::new();
        let atoms: Vec<String> = if prim.takes_raw() {
            arguments.iter().map(|a| self.double(a)).collect()
        } else {
            self.atoms(arguments)
        };
        if prim.takes_any() {
            return self.filled(prim, &atoms);
        }
        if prim.fails() {
            all.push("sp".to_string());
        }
        let given = atoms.len();
        all.extend(atoms);
        all.extend((given..prim.most).map(|_| "0".to_string()));
        format!("{}({})", prim.c_name(), all.join(", "))
    }

    /// A new object of these values. Several values that are one are no object.
    fn filled(&mut self, prim: &Prim, items: &[String]) -> String {
        if let ("values", [one]) = (prim.name, items) {
            return one.clone();
        }
        let object = self.temp();
        let made = prim.c_name().replacen("sch_", "sch_new_", 1);
        self.line(&format!("V {object} = {made}({});", items.len()));
        for (i, item) in items.iter().enumerate() {
            self.line(&format!("SCH_ITEM({object}, {i}) = {item};"));
        }
        object
    }

    /// A C expression of a value.
    fn value(&mut self, rhs: &Rhs) -> String {
        match rhs {
            Rhs::Atom(atom) => self.atom(atom),
            Rhs::Prim(prim, arguments, at) => {
                let call = self.prim(prim, arguments, *at);
                if prim.is_truth() {
                    format!("allod_bool({call})")
                } else if prim.gives_nothing() {
                    self.line(&format!("{call};"));
                    "SCH_UNSPECIFIED".into()
                } else {
                    call
                }
            }
            Rhs::Global(global) => {
                let name = c_string(&self.program.globals[global.0 as usize].name);
                format!("sch_global(sp, G[{}], {name})", global.0)
            }
            Rhs::SetGlobal(..) => {
                self.effect(rhs);
                "SCH_UNSPECIFIED".into()
            }
            Rhs::Block(_) | Rhs::Call(..) => self.named(rhs),
        }
    }

    /// A C expression of a value or a double, as it is wanted.
    fn wanted(&mut self, rhs: &Rhs, raw: bool) -> String {
        match rhs {
            Rhs::Atom(atom) if raw => self.double(atom),
            rhs => self.value(rhs),
        }
    }

    fn effect(&mut self, rhs: &Rhs) {
        match rhs {
            Rhs::Prim(prim, arguments, at) => {
                let call = self.prim(prim, arguments, *at);
                let void = if prim.gives_nothing() { "" } else { "(void)" };
                self.line(&format!("{void}{call};"));
            }
            Rhs::SetGlobal(global, value, first) => {
                let value = self.atom(value);
                if !first {
                    let name = c_string(&self.program.globals[global.0 as usize].name);
                    self.line(&format!("(void)sch_global(sp, G[{}], {name});", global.0));
                }
                self.line(&format!("G[{}] = {value};", global.0));
            }
            Rhs::Global(_) => {
                let value = self.value(rhs);
                self.line(&format!("(void){value};"));
            }
            Rhs::Atom(_) => {}
            Rhs::Block(block) => self.block(block, &Dest::Nowhere),
            Rhs::Call(..) => self.give(rhs, &Dest::Nowhere),
        }
    }

    /// A C call above `base` roots, after statements that store arguments without a register.
    fn call(
        &mut self,
        operator: &Atom,
        known: Option<(ProcId, usize)>,
        arguments: &[Atom],
        at: Place,
        base: usize,
    ) -> String {
        self.sites.at(at);
        let mut slots: Vec<String> = Vec::new();
        let function = match known {
            Some((id, clause)) => {
                if self.flow.procs[id.0 as usize].open {
                    slots.push(match operator {
                        Atom::Local(var) => self.local(*var),
                        other => self.atom(other),
                    });
                }
                let params = &self.flow.procs[id.0 as usize].clauses[clause].params;
                for (argument, param) in arguments.iter().zip(params) {
                    slots.push(self.passed(argument, *param));
                }
                format!("f{}_{clause}", id.0)
            }
            None => {
                let operator = self.atom(operator);
                let name = self.temp();
                self.line(&format!("V {name} = {operator};"));
                slots.push(name.clone());
                slots.push(arguments.len().to_string());
                slots.extend(self.atoms(arguments));
                format!("sch_code_of(sp, {name})")
            }
        };
        for (i, slot) in slots.iter().enumerate().skip(REGISTERS) {
            self.line(&format!("sp[{}] = {slot};", base + i - REGISTERS));
        }
        slots.truncate(REGISTERS);
        slots.resize(REGISTERS, "0".into());
        let sp = if base == 0 { "sp".into() } else { format!("sp + {base}") };
        format!("{function}({sp}, {})", slots.join(", "))
    }
}
