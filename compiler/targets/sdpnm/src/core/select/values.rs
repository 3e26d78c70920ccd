//! Registers of values, constants, and the bits above narrow values.

use nbcc_ir::{Scalar, Type, Value};
use nbcc_isa_sdpnm::core::{Class, I12, Inst};
use nbcc_mach::{InstData, VReg};

use super::{Recipe, Selector};
use crate::narrow::Upper;

impl Selector<'_> {
    pub(super) fn register(&mut self) -> VReg {
        self.func.vreg(Class::X)
    }

    pub(super) fn emit(&mut self, inst: Inst<VReg>) {
        self.func.blocks[self.at].insts.push(InstData::new(inst, self.span));
    }

    /// Emits an instruction that writes a new register.
    pub(super) fn made(&mut self, make: impl FnOnce(VReg) -> Inst<VReg>) -> VReg {
        let dst = self.register();
        self.emit(make(dst));
        dst
    }

    pub(super) fn is_wide(&self, value: Value) -> bool {
        self.ir.ty(value).scalar == Scalar::I64
    }

    pub(super) fn fresh(&mut self, ty: Type) -> [VReg; 2] {
        let low = self.register();
        [low, if ty.scalar == Scalar::I64 { self.register() } else { low }]
    }

    /// The registers of a value: those that its definition gave it.
    pub(super) fn regs(&mut self, value: Value) -> [VReg; 2] {
        match self.values[value] {
            Some(regs) => regs,
            None => {
                // Its definition comes later in the layout.
                let regs = self.fresh(self.ir.ty(value));
                self.values[value] = Some(regs);
                regs
            }
        }
    }

    pub(super) fn reg(&mut self, value: Value) -> VReg {
        self.regs(value)[0]
    }

    /// Says which register holds a value.
    pub(super) fn set(&mut self, value: Value, reg: VReg) {
        self.set_both(value, [reg, reg]);
    }

    /// Says which registers hold a value of 64 bits, or which one does.
    pub(super) fn set_both(&mut self, value: Value, regs: [VReg; 2]) {
        match self.values[value] {
            None => self.values[value] = Some(regs),
            Some(known) => {
                self.copy(known[0], regs[0]);
                if known[1] != known[0] {
                    self.copy(known[1], regs[1]);
                }
            }
        }
    }

    pub(super) fn copy(&mut self, dst: VReg, src: VReg) {
        if dst != src {
            self.emit(Inst::Addi { dst, a: src, imm: I12(0) });
        }
    }

    /// A register with a constant.
    pub(super) fn word(&mut self, value: i32) -> VReg {
        if value == 0 {
            return self.zero;
        }
        let (insts, dst, recipe) = self.constant_insts(value);
        for inst in insts {
            self.emit(inst);
        }
        if let Some(recipe) = recipe {
            self.recipes.insert(dst, recipe);
        }
        dst
    }

    /// The same, made at the start of the function.
    pub(super) fn word_at_start(&mut self, value: i32) -> VReg {
        if value == 0 {
            return self.zero;
        }
        let (insts, dst, recipe) = self.constant_insts(value);
        self.prologue.extend(insts.into_iter().map(|inst| InstData::new(inst, None)));
        if let Some(recipe) = recipe {
            self.recipes.insert(dst, recipe);
        }
        dst
    }

    fn constant_insts(&mut self, value: i32) -> (Vec<Inst<VReg>>, VReg, Option<Recipe>) {
        let dst = self.register();
        if let Some(imm) = I12::new(value) {
            let recipe = Some(Recipe::Small(value));
            return (vec![Inst::Addi { dst, a: self.zero, imm }], dst, recipe);
        }
        let upper = (value as u32).wrapping_add(0x800) >> 12;
        let low = value.wrapping_sub((upper << 12) as i32);
        if low == 0 {
            return (vec![Inst::Lui { dst, upper }], dst, Some(Recipe::Upper(upper)));
        }
        let high = self.register();
        self.recipes.insert(high, Recipe::Upper(upper));
        let insts =
            vec![Inst::Lui { dst: high, upper }, Inst::Addi { dst, a: high, imm: I12(low) }];
        (insts, dst, None)
    }

    pub(super) fn constant(&mut self, result: Value, ty: Type, bits: u64) {
        if ty.scalar == Scalar::I64 {
            let low = self.word(bits as u32 as i32);
            let high = self.word((bits >> 32) as u32 as i32);
            return self.set_both(result, [low, high]);
        }
        let width = ty.scalar.bits();
        let signed = ((bits << (64 - width)) as i64 >> (64 - width)) as i32;
        let value = if width == 1 { (bits & 1) as i32 } else { signed };
        self.upper[result] = if value >= 0 { Upper::Both } else { Upper::Signs };
        let reg = self.word(value);
        self.set(result, reg);
    }

    /// The constant that a value is, as a signed number.
    pub(super) fn known(&self, value: Value) -> Option<i64> {
        let bits = self.ir.splat_constant(value)?;
        let unused = 64 - self.ir.ty(value).scalar.bits();
        Some((bits << unused) as i64 >> unused)
    }

    /// A value of up to 32 bits with its sign or zeros above.
    pub(super) fn extended(&mut self, value: Value, signed: bool) -> VReg {
        let reg = self.reg(value);
        let width = self.ir.ty(value).scalar.bits();
        match (width, signed) {
            (32.., _) | (1, false) => reg,
            _ if self.upper[value].has(signed) => reg,
            (8, false) => self.made(|dst| Inst::Andi { dst, a: reg, imm: I12(0xff) }),
            _ => {
                let amount = 32 - width;
                let up = self.made(|dst| Inst::Slli { dst, a: reg, amount });
                match signed {
                    true => self.made(|dst| Inst::Srai { dst, a: up, amount }),
                    false => self.made(|dst| Inst::Srli { dst, a: up, amount }),
                }
            }
        }
    }
}
