//! Loads and stores of memory objects, and what happens where they are outside.

use nbcc_ir::{Extent, Mem, Scalar, Value};
use nbcc_isa::Imm;
use nbcc_isa_sdpnm::core::traps::TrapExtent;
use nbcc_isa_sdpnm::core::{I12, Inst, TrapKind};
use nbcc_mach::{Block, InstData, VReg};

use super::{Recipe, Selecting, Selector, frame_offset};
use crate::core::objects::Place;
use crate::narrow::Upper;

impl Selector<'_> {
    pub(super) fn load(&mut self, result: Value, mem: Mem, subscripts: &[Value]) -> Selecting<()> {
        let scalar = self.ir.ty(result).scalar;
        let (base, at) = self.element(mem, subscripts)?;
        let offset = I12(at);
        let regs = match scalar {
            Scalar::I64 => {
                let low = self.made(|dst| Inst::Lw { dst, offset, base });
                let high = self.made(|dst| Inst::Lw { dst, offset: I12(at + 4), base });
                [low, high]
            }
            Scalar::I1 | Scalar::I8 | Scalar::I16 => {
                let signed = self.signed_loads[result] && scalar != Scalar::I1;
                self.upper[result] = if signed { Upper::Signs } else { Upper::Zeros };
                let reg = self.made(|dst| match (scalar, signed) {
                    (Scalar::I16, true) => Inst::Lh { dst, offset, base },
                    (Scalar::I16, false) => Inst::Lhu { dst, offset, base },
                    (_, true) => Inst::Lb { dst, offset, base },
                    (_, false) => Inst::Lbu { dst, offset, base },
                });
                let reg = match scalar {
                    Scalar::I1 => self.made(|dst| Inst::Andi { dst, a: reg, imm: I12(1) }),
                    _ => reg,
                };
                [reg, reg]
            }
            _ => [self.made(|dst| Inst::Lw { dst, offset, base }); 2],
        };
        self.set_both(result, regs);
        Ok(())
    }

    pub(super) fn store(&mut self, mem: Mem, subscripts: &[Value], value: Value) -> Selecting<()> {
        let ty = self.ir.ty(value);
        self.check_type(ty)?;
        let (base, at) = self.element(mem, subscripts)?;
        let ([src, high], offset) = (self.regs(value), I12(at));
        self.emit(match ty.scalar {
            Scalar::I1 | Scalar::I8 => Inst::Sb { src, offset, base },
            Scalar::I16 => Inst::Sh { src, offset, base },
            _ => Inst::Sw { src, offset, base },
        });
        if ty.scalar == Scalar::I64 {
            self.emit(Inst::Sw { src: high, offset: I12(at + 4), base });
        }
        Ok(())
    }

    /// The address of an element that is inside: a register and what is added, at most 2040.
    fn element(&mut self, mem: Mem, subscripts: &[Value]) -> Selecting<(VReg, i32)> {
        let key = (mem, subscripts.to_vec());
        let before = self.checked.get(&key).into_iter().flatten();
        let mut known = before.copied();
        if !known.any(|block| self.dominators.dominates(block, self.ir_at)) {
            self.check(mem, subscripts);
            self.checked.entry(key.clone()).or_default().push(self.ir_at);
        }
        if let Some(&address) = self.addresses.get(&key) {
            return Ok(address);
        }
        let address = self.address(mem, subscripts)?;
        self.addresses.insert(key, address);
        Ok(address)
    }

    /// Ends the run where a subscript is outside.
    fn check(&mut self, mem: Mem, subscripts: &[Value]) {
        let data = &self.ir.mems[mem];
        for (dimension, &subscript) in subscripts.iter().enumerate() {
            let extent = match data.extents[dimension] {
                Extent::Fixed(count) => Some(count),
                _ => None,
            };
            if extent.is_some_and(|count| self.ranges.fits(subscript, 0, i64::from(count) - 1)) {
                continue;
            }
            let kind = TrapKind::Outside {
                name: data.name.clone(),
                subscripts: (0..subscripts.len())
                    .map(|dimension| self.objects.traps + 4 * dimension as u32)
                    .collect(),
                extents: (0..subscripts.len())
                    .map(|dimension| self.trap_extent(mem, dimension))
                    .collect(),
            };
            let index = self.reg(subscript);
            let count = self.count(mem, dimension);
            self.trap_where(|to| Inst::Bgeu { a: index, b: count, to }, kind, subscripts);
        }
    }

    /// What the table of traps says of an extent.
    fn trap_extent(&self, mem: Mem, dimension: usize) -> TrapExtent {
        match (&self.ir.mems[mem].extents[dimension], self.objects.places[mem]) {
            (Extent::Fixed(count), _) => TrapExtent::Known(*count),
            (_, Some(Place::Argument(at))) => TrapExtent::At(self.extent_word(mem, dimension, at)),
            _ => TrapExtent::Known(0),
        }
    }

    /// Where in the frame an extent of an argument lies.
    fn extent_word(&self, mem: Mem, dimension: usize, at: u32) -> u32 {
        match self.ir.mems[mem].extents.len() {
            // All elements in a row.
            1 => at + 4,
            rank => at + 8 + 4 * (rank - 1 - dimension) as u32,
        }
    }

    /// A register with an extent.
    pub(super) fn count(&mut self, mem: Mem, dimension: usize) -> VReg {
        if let Some(&count) = self.counts.get(&(mem, Some(dimension))) {
            return count;
        }
        let count = match self.trap_extent(mem, dimension) {
            TrapExtent::Known(count) => self.word_at_start(count as i32),
            TrapExtent::At(offset) => self.frame_word(offset),
        };
        self.counts.insert((mem, Some(dimension)), count);
        count
    }

    /// A word of the frame that nothing changes, loaded at the start of the function.
    fn frame_word(&mut self, offset: u32) -> VReg {
        let (dst, base) = (self.register(), self.frame);
        let inst = Inst::Lw { dst, offset: frame_offset(offset), base };
        self.prologue.push(InstData::new(inst, None));
        self.recipes.insert(dst, Recipe::Frame(offset));
        dst
    }

    /// A register with the address of an object's first element.
    fn base(&mut self, mem: Mem) -> Selecting<VReg> {
        if let Some(base) = self.bases[mem] {
            return Ok(base);
        }
        let base = match self.objects.places[mem] {
            Some(Place::At(address)) => self.word_at_start(address as i32),
            Some(Place::Argument(offset)) => self.frame_word(offset),
            None => return self.refuse(format!("the object `{}`", self.ir.mems[mem].name)),
        };
        self.bases[mem] = Some(base);
        Ok(base)
    }

    /// The address of an element, wherever it is: a register and what is added, at most 2040.
    pub(super) fn address(&mut self, mem: Mem, subscripts: &[Value]) -> Selecting<(VReg, i32)> {
        let bytes = self.ir.mems[mem].element.bytes();
        let base = self.base(mem)?;
        if let [only] = subscripts
            && let Some(at) = self.known(*only)
            && (0..=2040).contains(&(at * i64::from(bytes)))
        {
            return Ok((base, at as i32 * bytes as i32));
        }
        // The number of the element: the slowest dimension first.
        let mut number = None;
        for (dimension, &subscript) in subscripts.iter().enumerate().rev() {
            let index = self.reg(subscript);
            number = Some(match number {
                None => index,
                Some(outer) => {
                    let count = self.count(mem, dimension);
                    let row = self.made(|dst| Inst::Mul { dst, a: outer, b: count });
                    self.made(|dst| Inst::Add { dst, a: row, b: index })
                }
            });
        }
        let Some(number) = number else { return Ok((base, 0)) };
        let offset = match bytes.trailing_zeros() {
            0 => number,
            amount => self.made(|dst| Inst::Slli { dst, a: number, amount }),
        };
        Ok((self.made(|dst| Inst::Add { dst, a: base, b: offset }), 0))
    }

    /// Ends the run where a branch is taken. `values` are stored for the message.
    pub(super) fn trap_where(
        &mut self,
        branch: impl FnOnce(Imm) -> Inst<VReg>,
        kind: TrapKind,
        values: &[Value],
    ) {
        let trap = self.trap(kind, values);
        let go_on = self.new_block(self.depth);
        let zero = self.zero;
        self.emit(branch(Imm::Label(trap.as_u32())));
        self.emit(Inst::Jal { dst: zero, to: Imm::Label(go_on.as_u32()) });
        self.func.blocks[self.at].successors.extend([trap, go_on]);
        self.order.push(go_on);
        self.at = go_on;
    }

    /// A block that ends the run.
    pub(super) fn trap(&mut self, kind: TrapKind, values: &[Value]) -> Block {
        let trap = self.new_block(0);
        let here = std::mem::replace(&mut self.at, trap);
        let base = self.frame;
        for (number, &value) in values.iter().enumerate() {
            let src = self.reg(value);
            let offset = frame_offset(self.objects.traps + 4 * number as u32);
            self.emit(Inst::Sw { src, offset, base });
        }
        self.emit(Inst::Ecall {});
        self.at = here;
        self.traps.push((trap, kind));
        trap
    }
}
