//! What passes give, as text: `--dump PASS`.

use crate::core::{Const, Expr, Global, Lambda, Program, Var};
use crate::passes::live::SELF;
use crate::straight::{Atom, Block, End, Flow, Rhs, Step, Stmt};
use std::fmt::Write;

fn constant(c: &Const) -> String {
    match c {
        Const::Datum(datum) => match datum.node {
            allod_scheme_datum::Node::Symbol(_) | allod_scheme_datum::Node::List(..) => {
                format!("'{}", crate::text::datum(datum))
            }
            _ => crate::text::datum(datum),
        },
        Const::Unspecified => "#unspecified".into(),
        Const::Unbound => "#unbound".into(),
    }
}

struct Names<'p>(&'p Program);

impl Names<'_> {
    fn var(&self, var: Var) -> String {
        if var == SELF {
            return "self".into();
        }
        format!("{}.{}", self.0.vars[var.0 as usize].name, var.0)
    }

    fn global(&self, global: Global) -> String {
        self.0.globals[global.0 as usize].name.to_string()
    }

    fn vars(&self, vars: &[Var]) -> String {
        vars.iter().map(|v| self.var(*v)).collect::<Vec<_>>().join(" ")
    }
}

/// A program of core forms. Definitions of the prelude are left out.
pub fn core(program: &Program) -> String {
    let names = Names(program);
    let mut text = String::new();
    for form in &program.forms {
        if let Expr::Define(global, _) = form
            && program.globals[global.0 as usize].at.file == 0
        {
            continue;
        }
        writeln!(text, "{}", expr(form, &names)).expect("strings grow");
    }
    text
}

fn all(es: &[Expr], names: &Names<'_>) -> String {
    es.iter().map(|e| format!(" {}", expr(e, names))).collect()
}

fn bindings(bound: &[(Var, Expr)], names: &Names<'_>) -> String {
    let one = |(var, e): &(Var, Expr)| format!("({} {})", names.var(*var), expr(e, names));
    bound.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn lambda(l: &Lambda, names: &Names<'_>) -> String {
    let mut text = String::from("(lambda");
    for clause in &l.clauses {
        let mut params = names.vars(&clause.params);
        if let Some(rest) = clause.rest {
            params += &format!(" . {}", names.var(rest));
        }
        write!(text, " (({params}) {})", expr(&clause.body, names)).expect("strings grow");
    }
    text + ")"
}

fn expr(e: &Expr, n: &Names<'_>) -> String {
    match e {
        Expr::Const(c) => constant(c),
        Expr::Local(var) => n.var(*var),
        Expr::Global(global, _) => n.global(*global),
        Expr::PrimValue(prim) => format!("#{}", prim.name),
        Expr::SetLocal(var, e) => format!("(set! {} {})", n.var(*var), expr(e, n)),
        Expr::SetGlobal(global, e, _) => format!("(set! {} {})", n.global(*global), expr(e, n)),
        Expr::Define(global, e) => format!("(define {} {})", n.global(*global), expr(e, n)),
        Expr::If(a, b, c) => format!("(if {} {} {})", expr(a, n), expr(b, n), expr(c, n)),
        Expr::Seq(es) => format!("(begin{})", all(es, n)),
        Expr::Lambda(l) => lambda(l, n),
        Expr::Call(f, es, _) => format!("({}{})", expr(f, n), all(es, n)),
        Expr::Prim(prim, es, _) => format!("(#{}{})", prim.name, all(es, n)),
        Expr::Let(bound, body) => format!("(let ({}) {})", bindings(bound, n), expr(body, n)),
        Expr::Letrec(bound, body) => {
            format!("(letrec* ({}) {})", bindings(bound, n), expr(body, n))
        }
        Expr::Loops(lambdas, body) => {
            let one = |(var, l): &(Var, Lambda)| format!("({} {})", n.var(*var), lambda(l, n));
            let bound: Vec<String> = lambdas.iter().map(one).collect();
            format!("(loops ({}) {})", bound.join(" "), expr(body, n))
        }
    }
}

/// Straight-line code, without the prelude's.
pub fn flow(program: &Program, flow: &Flow) -> String {
    let mut shown = Shown { names: Names(program), flow, text: String::new() };
    for (i, proc) in flow.procs.iter().enumerate() {
        if proc.at.file == 0 {
            continue;
        }
        for clause in &proc.clauses {
            let params = shown.names.vars(&clause.params);
            let free = shown.names.vars(&proc.free);
            let kind = if proc.open { format!(" captures [{free}]") } else { String::new() };
            writeln!(shown.text, "procedure {i} {} ({params}){kind}", proc.name)
                .expect("strings grow");
            shown.block(&clause.body, 1);
        }
    }
    for top in &flow.tops[flow.prelude..] {
        writeln!(shown.text, "top").expect("strings grow");
        shown.block(top, 1);
    }
    shown.text
}

struct Shown<'a> {
    names: Names<'a>,
    flow: &'a Flow,
    text: String,
}

impl Shown<'_> {
    fn line(&mut self, depth: usize, line: &str) {
        writeln!(self.text, "{}{line}", "  ".repeat(depth)).expect("strings grow");
    }

    fn atom(&self, atom: &Atom) -> String {
        match atom {
            Atom::Local(var) => self.names.var(*var),
            Atom::Const(c) => constant(c),
            Atom::Proc(id) => format!("procedure-{}", self.flow.procs[id.0 as usize].name),
            Atom::PrimValue(prim) => format!("#{}", prim.name),
        }
    }

    fn atoms(&self, all: &[Atom]) -> String {
        all.iter().map(|a| format!(" {}", self.atom(a))).collect()
    }

    fn rhs(&mut self, rhs: &Rhs, depth: usize) -> String {
        match rhs {
            Rhs::Atom(atom) => self.atom(atom),
            Rhs::Prim(prim, all, _) => format!("#{}{}", prim.name, self.atoms(all)),
            Rhs::Call(f, known, all, _) => {
                let how = if known.is_some() { "call-known" } else { "call" };
                format!("{how} {}{}", self.atom(f), self.atoms(all))
            }
            Rhs::Global(global) => format!("global {}", self.names.global(*global)),
            Rhs::SetGlobal(global, atom, _) => {
                format!("global {} := {}", self.names.global(*global), self.atom(atom))
            }
            Rhs::Block(block) => {
                self.line(depth, "block");
                self.block(block, depth + 1);
                "that block".into()
            }
        }
    }

    fn block(&mut self, block: &Block, depth: usize) {
        for stmt in &block.stmts {
            match stmt {
                Stmt::Let(var, rhs, live) => {
                    let mut line = self.rhs(rhs, depth);
                    if let Some(var) = var {
                        let kind = if self.flow.raw.contains(var) { " double" } else { "" };
                        line = format!("{} :={kind} {line}", self.names.var(*var));
                    }
                    if !live.is_empty() {
                        line += &format!("   keeps [{}]", self.names.vars(live));
                    }
                    self.line(depth, &line);
                }
                Stmt::Scope(Step::Mark(id)) => self.line(depth, &format!("mark {id}")),
                Stmt::Scope(Step::Release(id, numbers)) => {
                    let looked_at = match numbers.is_empty() {
                        true => String::new(),
                        false => format!(" unless object [{}]", self.names.vars(numbers)),
                    };
                    self.line(depth, &format!("release {id}{looked_at}"));
                }
                Stmt::Scope(Step::Turns(id)) => self.line(depth, &format!("turns {id}")),
                Stmt::Scope(Step::Again(id)) => self.line(depth, &format!("again {id}")),
                Stmt::Scope(Step::Keep(atom)) => {
                    let line = format!("keep {}", self.atom(atom));
                    self.line(depth, &line);
                }
                Stmt::Closures(all) => {
                    for (var, id) in all {
                        let line = format!("closure {} procedure {}", self.names.var(*var), id.0);
                        self.line(depth, &line);
                    }
                }
            }
        }
        match &block.end {
            End::Return(rhs) => {
                let value = self.rhs(rhs, depth);
                self.line(depth, &format!("return {value}"));
            }
            End::If(test, then, other) => {
                let test = self.rhs(test, depth);
                self.line(depth, &format!("if {test}"));
                self.block(then, depth + 1);
                self.line(depth, "else");
                self.block(other, depth + 1);
            }
            End::Loops(labels, body) => {
                for label in labels {
                    let line = format!(
                        "label {} ({})   keeps [{}]",
                        self.names.var(label.name),
                        self.names.vars(&label.params),
                        self.names.vars(&label.live)
                    );
                    self.line(depth, &line);
                    self.block(&label.body, depth + 1);
                }
                self.block(body, depth);
            }
            End::Go(label, all) => {
                let line = format!("go {}{}", self.names.var(*label), self.atoms(all));
                self.line(depth, &line);
            }
        }
    }
}
