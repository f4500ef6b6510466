//! Scopes as C.

use super::Emit;
use crate::straight::Step;

impl Emit<'_> {
    pub(super) fn scope(&mut self, step: &Step) {
        match step {
            Step::Mark(id) => self.line(&format!("struct sch_mark m{id} SCH_U = sch_mark();")),
            Step::Turns(id) => self.line(&format!("struct sch_mark m{id} SCH_U = {{0, 0}};")),
            Step::Again(id) => self.line(&format!("m{id} = sch_mark();")),
            Step::Release(id, numbers) if numbers.is_empty() => {
                self.line(&format!("sch_release(m{id});"));
            }
            Step::Release(id, numbers) => {
                let tests: Vec<String> = numbers
                    .iter()
                    .map(|var| format!("!sch_is_object({})", self.local(*var)))
                    .collect();
                let test = tests.join(" && ");
                self.line(&format!("if (SCH_LIKELY({test})) sch_release(m{id});"));
            }
            Step::Keep(atom) => {
                let value = self.atom(atom);
                self.line(&format!("if (SCH_UNLIKELY(sch_is_object({value}))) sch_keep();"));
            }
        }
    }
}
