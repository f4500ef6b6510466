//! The rest of the C file: procedures as values, tables, and the program itself.

use super::{Emit, GENERIC, REGISTERS, SIGNATURE, c_string};
use crate::Codegen;
use crate::expand::arity;
use crate::prims::Prim;
use crate::straight::ProcId;
use std::fmt::Write;
use std::path::Path;

/// Arguments of a call by value that have registers.
const BY_VALUE: usize = 3;

/// The C expression of argument `i` of a call by value.
fn argument(i: usize) -> String {
    if i < BY_VALUE { format!("a{i}") } else { format!("sp[{}]", i - BY_VALUE) }
}

impl Emit<'_> {
    pub(super) fn finish(mut self, file: &Path, files: &[String]) -> String {
        let body = std::mem::take(&mut self.out);
        let mut generic = String::new();
        let escaped: Vec<ProcId> = {
            for (_, global) in &self.program.hooks {
                self.escaped.extend(self.flow.known.get(global));
            }
            self.escaped.iter().copied().collect()
        };
        for id in &escaped {
            self.generic(*id, &mut generic);
        }
        self.prim_values.retain(|_, prim| !prim.is_value());
        for prim in self.prim_values.values() {
            prim_stub(prim, &mut generic);
        }
        let mut c = format!(
            "/* {} as compiled by allod scheme. */\n{}{}#include \"scheme.h\"\n#include \"support.h\"\n\n",
            super::comment(&file.file_name().unwrap_or_default().to_string_lossy()),
            match self.codegen {
                Codegen::Typed => "",
                Codegen::Constructors => "#define SCH_CONSTRUCTORS\n",
            },
            self.headers(),
        );
        let mut w = |line: String| writeln!(c, "{line}").expect("strings grow");
        w(self.foreign());
        w(format!("static V G[{}];", self.program.globals.len().max(1)));
        w(self.consts.declare());
        for (i, proc) in self.flow.procs.iter().enumerate() {
            for clause in 0..proc.clauses.len() {
                w(format!("static V f{i}_{clause}({SIGNATURE}) SCH_U;"));
            }
            let is_value = escaped.contains(&ProcId(i as u32));
            if is_value {
                w(format!("static V g{i}({GENERIC});"));
            }
            if proc.open {
                let code = if is_value { format!("g{i}") } else { "NULL".into() };
                w(format!("#define CODE{i} {code}"));
            } else if is_value {
                w(format!(
                    "static uint64_t c{i}[2] = {{ALLOD_HEADER(ALLOD_CLOSURE, 0), (uint64_t)g{i}}};"
                ));
            }
        }
        for prim in self.prim_values.values() {
            let name = &prim.c_name()[4..];
            w(format!("static V p_{name}({GENERIC});"));
            w(format!(
                "static uint64_t pc_{name}[2] = {{ALLOD_HEADER(ALLOD_CLOSURE, 0), (uint64_t)p_{name}}};"
            ));
        }
        w(String::new());
        w(self.consts.define());
        let before = c.lines().count();
        let table = self.sites.table(&body, before, self.flow, files);
        let mut w = |line: String| writeln!(c, "{line}").expect("strings grow");
        w(body);
        w(generic);
        w(table);
        w(self.program_table(&escaped));
        c
    }

    fn program_table(&self, escaped: &[ProcId]) -> String {
        let mut c = String::from("static const struct sch_proc procs[] = {\n");
        for id in escaped {
            let name = c_string(&self.flow.procs[id.0 as usize].name);
            writeln!(c, "    {{g{}, {name}}},", id.0).expect("strings grow");
        }
        for prim in self.prim_values.values() {
            writeln!(c, "    {{p_{}, {}}},", &prim.c_name()[4..], c_string(prim.name))
                .expect("strings grow");
        }
        c += "    {NULL, NULL}\n};\n\n";
        writeln!(c, "static V program({SIGNATURE})\n{{").expect("strings grow");
        for i in 0..self.flow.tops.len() {
            writeln!(c, "    (void)top{i}(sp, 0, 0, 0, 0, 0);").expect("strings grow");
        }
        c += "    return SCH_UNSPECIFIED;\n}\n\n";
        let (words, symbols, patches) = self.consts.counts();
        writeln!(c, "static struct sch_program the_program = {{\n    program, G, {}, K, {words}, Y, names, {symbols},\n    patches, {patches}, sites, sizeof sites / sizeof sites[0], files, procs,", self.program.globals.len()).expect("strings grow");
        for (_, global) in &self.program.hooks {
            match self.flow.known.get(global) {
                Some(id) => writeln!(c, "    (V)c{},", id.0),
                None => writeln!(c, "    0,"),
            }
            .expect("strings grow");
        }
        c += "};\n\nint main(int argc, char **argv) { return sch_main(&the_program, argc, argv); }\n";
        c
    }

    /// A procedure as a value: chooses the clause.
    fn generic(&self, id: ProcId, c: &mut String) {
        let proc = &self.flow.procs[id.0 as usize];
        let mut w = |line: &str| writeln!(c, "{line}").expect("strings grow");
        w(&format!("static V g{}({GENERIC})\n{{", id.0));
        let mut takes = Vec::new();
        for (i, clause) in proc.clauses.iter().enumerate() {
            let required = clause.params.len() - usize::from(clause.rest);
            takes.push(arity(required, (!clause.rest).then_some(required)));
            let compare = if clause.rest { ">=" } else { "==" };
            if clause.rest && required == 0 {
                w("    {");
            } else {
                w(&format!("    if (argc {compare} {required}) {{"));
            }
            let mut slots: Vec<String> = Vec::new();
            if proc.open {
                slots.push("self".into());
            }
            for j in 0..required {
                if j < BY_VALUE {
                    slots.push(argument(j));
                } else {
                    w(&format!("        V s{j} = {};", argument(j)));
                    slots.push(format!("s{j}"));
                }
            }
            if clause.rest {
                w(&format!("        V rest = sch_rest(sp, argc, {required}, a0, a1, a2);"));
                slots.push("rest".into());
            }
            for (j, slot) in slots.iter().enumerate().skip(REGISTERS) {
                w(&format!("        sp[{}] = {slot};", j - REGISTERS));
            }
            slots.truncate(REGISTERS);
            slots.resize(REGISTERS, "0".into());
            w(&format!("        SCH_TAIL f{}_{i}(sp, {});\n    }}", id.0, slots.join(", ")));
        }
        let takes = takes.join(" or ");
        if proc.clauses.iter().all(|clause| !clause.rest || clause.params.len() > 1) {
            w(&format!(
                "    return sch_wrong_args(sp, {}, argc, {});",
                c_string(&proc.name),
                c_string(&takes)
            ));
        }
        w("}\n");
    }
}

/// A primitive as a value.
fn prim_stub(prim: &Prim, c: &mut String) {
    let mut w = |line: String| writeln!(c, "{line}").expect("strings grow");
    let name = prim.c_name();
    w(format!("static V p_{}({GENERIC})\n{{", &name[4..]));
    let give = |call: String| {
        if prim.is_truth() {
            format!("return allod_bool({call});")
        } else if prim.gives_nothing() {
            format!("{call};\n    return SCH_UNSPECIFIED;")
        } else {
            format!("return {call};")
        }
    };
    if prim.takes_any() {
        w("    sch_spread(sp, argc, a0, a1, a2);".into());
        w(format!("    {}", give(format!("{name}(argc, sp)"))));
    } else {
        let takes = arity(prim.least, Some(prim.most));
        let test = if prim.least == prim.most {
            format!("argc != {}", prim.least)
        } else if prim.least == 0 {
            format!("argc > {}", prim.most)
        } else {
            format!("argc < {} || argc > {}", prim.least, prim.most)
        };
        w(format!(
            "    if ({test}) return sch_wrong_args(sp, {}, argc, {});",
            c_string(prim.name),
            c_string(&takes)
        ));
        let mut all = Vec::new();
        if prim.fails() {
            all.push("sp".to_string());
        }
        for i in 0..prim.most {
            all.push(if i < prim.least {
                argument(i)
            } else {
                format!("argc > {i} ? {} : 0", argument(i))
            });
        }
        w(format!("    {}", give(format!("{name}({})", all.join(", ")))));
    }
    w("}\n".into());
}
