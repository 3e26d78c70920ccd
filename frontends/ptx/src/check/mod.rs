//! Checks of instructions: forms, operands, types, state spaces, calls. What passes is lowered
//! without further questions.
//!
//! The rules are those of the PTX ISA manual as `ptxas` applies them; where they differ, `ptxas`
//! decides what is accepted.

mod call;
pub mod codes;
mod meaning;
mod operand;
mod types;

use cranelift_entity::SecondaryMap;
use nbcc_base::{Diagnostic, Diagnostics, Failed, Span};

use crate::forms::table::LATER;
use crate::forms::{self, Matched, Meaning, Mismatch, Modifier};
use crate::resolved::{
    Body, BodyItem, FormId, FunctionId, Guard, Instruction, RegId, Register, Resolved, ScalarType,
};

pub use operand::{
    accessed_space, assign, copied, named_role, results, special_register, vector_length,
};
pub use types::{Class, bits, class, is_signed};

/// What the forms of a module are; none where a form does not exist.
pub type Forms = SecondaryMap<FormId, Option<Matched>>;

/// Checks every instruction of a module.
pub fn check(module: &Resolved<'_>, diagnostics: &mut Diagnostics) -> Result<Forms, Failed> {
    let (forms, faults) = match_forms(module);
    let mut failed = false;
    for (id, function) in &module.functions {
        let Some(body) = &function.body else { continue };
        let mut checker =
            Checker { module, forms: &forms, faults: &faults, function: id, body, diagnostics };
        for item in &body.items {
            let good = match item {
                BodyItem::Instruction(inst) => checker.instruction(inst).is_some(),
                BodyItem::Call(call) => checker.call(call).is_some(),
                BodyItem::Label(_) => true,
            };
            failed |= !good;
        }
    }
    if failed { Err(Failed) } else { Ok(forms) }
}

type Faults = SecondaryMap<FormId, Option<Mismatch>>;

fn match_forms(module: &Resolved<'_>) -> (Forms, Faults) {
    let (mut forms, mut faults) = (Forms::new(), Faults::new());
    for (id, form) in &module.forms {
        match forms::find(module.names.text(form.opcode), &module.modifiers(id)) {
            Ok(matched) => forms[id] = Some(matched),
            Err(mismatch) => faults[id] = Some(mismatch),
        }
    }
    (forms, faults)
}

struct Checker<'a, 'd> {
    module: &'a Resolved<'a>,
    forms: &'a Forms,
    faults: &'a Faults,
    function: FunctionId,
    body: &'a Body,
    diagnostics: &'d mut Diagnostics,
}

impl<'a> Checker<'a, '_> {
    /// Reports an error.
    fn fail<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        self.diagnostics.push(diagnostic);
        None
    }

    /// Opcode and modifiers as written.
    fn form_text(&self, id: FormId) -> String {
        let form = &self.module.forms[id];
        let mut text = self.module.names.text(form.opcode).to_string();
        for &modifier in &form.modifiers {
            text.push('.');
            text.push_str(self.module.names.text(modifier));
        }
        text
    }

    fn register(&self, reg: RegId) -> &'a Register {
        &self.body.registers[reg]
    }

    fn instruction(&mut self, inst: &Instruction) -> Option<()> {
        let guard = inst.guard.map_or(Some(()), |guard| self.guard(guard));
        let matched = self.form(inst.form, inst.form_span)?;
        self.operands(inst, &matched)?;
        self.meaning(inst, &matched)?;
        guard
    }

    fn guard(&mut self, guard: Guard) -> Option<()> {
        let register = self.register(guard.register);
        if register.ty == ScalarType::Pred {
            return Some(());
        }
        let (name, ty) = (self.module.names.text(register.name), register.ty.name());
        self.fail(
            Diagnostic::error(&codes::GUARD, format!("the guard `{name}` is not a predicate"))
                .at(guard.span, format!("this register is of type .{ty}"))
                .help("compare with `setp` into a register of type .pred"),
        )
    }

    /// Whether the file's version and architecture have what came with these.
    fn since(&mut self, text: &str, span: Span, ptx: u32, sm: u32) -> Option<()> {
        let version = self.module.version;
        if version.major > 0 && version.major * 10 + version.minor < ptx {
            let needed = format!("{}.{}", ptx / 10, ptx % 10);
            return self.fail(
                Diagnostic::error(&codes::VERSION, format!("`{text}` needs PTX {needed}"))
                    .at(span, "not in the version of this file")
                    .help(format!("state `.version {needed}` or later")),
            );
        }
        if self.module.target.sm < sm {
            let message = format!("`{text}` needs sm_{sm} or later");
            let given = self.module.target.sm;
            return self.fail(
                Diagnostic::error(&codes::ARCHITECTURE, message)
                    .at(span, format!("not on sm_{given}"))
                    .help(format!("state `.target sm_{sm}` or later")),
            );
        }
        Some(())
    }

    /// The form of an instruction, or why there is none.
    fn form(&mut self, id: FormId, span: Span) -> Option<Matched> {
        let Some(matched) = self.forms[id] else {
            let mismatch = self.faults[id].clone().unwrap_or(Mismatch::Opcode);
            return self.mismatch(id, span, &mismatch);
        };
        let row = &matched.pattern.row;
        let text = self.form_text(id);
        if row.meaning == Meaning::Unsupported {
            return self.mismatch(id, span, &Mismatch::Unsupported);
        }
        let version = self.module.version;
        let later = LATER.iter().filter(|(modifier, ..)| matched.modifiers.has(*modifier));
        let atomic = matches!(row.meaning, Meaning::Atom | Meaning::AtomCas | Meaning::Red);
        let scoped = [Modifier::Cta, Modifier::Sys].iter().any(|&m| matched.modifiers.has(m));
        let first =
            if atomic && scoped { (row.ptx.max(50), row.sm.max(60)) } else { (row.ptx, row.sm) };
        let (ptx, sm) = later.fold(first, |(ptx, sm), &(_, p, s)| (ptx.max(p), sm.max(s)));
        self.since(&text, span, ptx, sm)?;
        let legacy = matches!(
            row.meaning,
            Meaning::ShflLegacy | Meaning::VoteLegacy | Meaning::BallotLegacy
        );
        if legacy && self.module.target.sm >= 70 && (version.major, version.minor) >= (6, 4) {
            return self.fail(
                Diagnostic::error(&codes::LEGACY, format!("`{text}` is gone on sm_70 and later"))
                    .at(span, "it does not name the lanes that take part")
                    .help("use the form with `.sync` and a mask of lanes"),
            );
        }
        Some(matched)
    }

    fn mismatch(&mut self, id: FormId, span: Span, mismatch: &Mismatch) -> Option<Matched> {
        let form = &self.module.forms[id];
        let opcode = self.module.names.text(form.opcode);
        let modifier = |n: usize| form.modifiers.get(n).map_or("", |&m| self.module.names.text(m));
        let diagnostic = match mismatch {
            Mismatch::Opcode => {
                Diagnostic::error(&codes::OPCODE, format!("there is no instruction `{opcode}`"))
                    .at(span, "unknown")
                    .help("check its spelling; docs/language-ptx.md lists the instructions")
            }
            Mismatch::Unknown(n) => {
                let message = format!("`{opcode}` has no modifier `.{}`", modifier(*n));
                Diagnostic::error(&codes::MODIFIER, message).at(span, "unknown modifier").help(
                    "leave it out, or check its spelling; docs/language-ptx.md \
                     lists the instructions",
                )
            }
            Mismatch::Unexpected(n) => {
                let text = self.form_text(id);
                let message =
                    format!("`.{}` does not fit the other modifiers of `{text}`", modifier(*n));
                Diagnostic::error(&codes::UNEXPECTED_MODIFIER, message)
                    .at(span, "there is no such form")
                    .help(
                        "leave it out, or change the others; docs/language-ptx.md lists the forms",
                    )
            }
            Mismatch::Missing(words) => {
                let list: Vec<String> = words.iter().map(|w| format!("`.{w}`")).collect();
                let text = self.form_text(id);
                Diagnostic::error(&codes::MISSING_MODIFIER, format!("`{text}` lacks a modifier"))
                    .at(span, "incomplete")
                    .help(match list.len() {
                        1 => format!("add {}", list[0]),
                        _ => format!("add one of {}", list.join(", ")),
                    })
            }
            Mismatch::Unsupported => {
                let message = format!("`{}` is not supported yet", self.form_text(id));
                Diagnostic::error(&codes::UNSUPPORTED, message).at(span, "not supported").help(
                    "compute it with other instructions; docs/language-ptx.md \
                     lists what is supported",
                )
            }
        };
        self.fail(diagnostic)
    }
}
