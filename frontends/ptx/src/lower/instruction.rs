//! One instruction: what its guard makes of it, and which room lowers it.

use nbcc_ir::SimtOp;

use super::context::Lowerer;
use crate::forms::{Matched, Meaning};
use crate::resolved::{Instruction, ScalarType};

/// How a guard acts on an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guarding {
    /// It is computed anyway; results are selected.
    Select,
    /// The memory operation takes the guard.
    Memory,
    /// It becomes control flow.
    Branch,
    /// It does nothing in any case.
    None,
}

fn guarding(meaning: Meaning) -> Guarding {
    use Meaning::*;
    match meaning {
        Load | Store | Atom | AtomCas | Red => Guarding::Memory,
        Activemask | Ballot | BallotLegacy | Barrier | BarrierRed | Brkpt | CpAsync | Fence
        | FragmentLoad | FragmentStore | Match | MatrixLoad | MatrixMove | MatrixProduct
        | MatrixStore | Nanosleep | Redux | Shfl | ShflLegacy | Vote | VoteLegacy | WarpBarrier => {
            Guarding::Branch
        }
        Nothing | Prefetch => Guarding::None,
        _ => Guarding::Select,
    }
}

impl Lowerer<'_> {
    /// Lowers an instruction that ends no block.
    pub(super) fn instruction(&mut self, inst: &Instruction) {
        let Some(matched) = self.plan.forms[inst.form] else {
            panic!("{} was not checked", inst.form)
        };
        self.span = Some(inst.span);
        let Some(guard) = inst.guard else {
            self.body(inst, &matched, None);
            return self.commit();
        };
        match guarding(matched.pattern.row.meaning) {
            Guarding::None => {}
            Guarding::Select => {
                let guard = self.guard(guard);
                self.body(inst, &matched, None);
                self.commit_selected(guard);
            }
            Guarding::Memory => {
                let guard = self.guard(guard);
                self.body(inst, &matched, Some(guard));
                self.commit();
            }
            Guarding::Branch => {
                let guard = self.guard(guard);
                self.conditional(guard, |this| this.body(inst, &matched, None));
            }
        }
    }

    fn body(&mut self, inst: &Instruction, matched: &Matched, guard: Option<nbcc_ir::Value>) {
        use Meaning::*;
        match matched.pattern.row.meaning {
            And | Or | Xor | Not if matched.types[0] == ScalarType::Pred => {
                self.predicate_logic(inst, matched);
            }
            MovPred => self.predicate_logic(inst, matched),
            Add | Sub | MulLo | MulHi | MadLo | MadHi | Mul24 | Mad24 | Sad | IntDiv | IntRem
            | IntAbs | IntNeg | IntMin | IntMax | And | Or | Xor | Not | Cnot => {
                self.integer(inst, matched);
            }
            MulWide | MadWide => self.wide(inst, matched),
            AddCarry | AddWithCarry | SubCarry | SubWithCarry | MadLoCarry | MadHiCarry
            | MadLoWithCarry | MadHiWithCarry => self.carry_chain(inst, matched),
            AddPair | MinPair | MaxPair => self.pair(inst, matched),
            Float => self.float(inst, matched),
            FloatApprox => self.approximate(inst, matched),
            Copysign => self.copysign(inst, matched),
            Testp => self.testp(inst, matched),
            Setp => self.setp(inst, matched),
            Set => self.set_instruction(inst, matched),
            Selp => self.selp(inst, matched),
            Slct => self.slct(inst, matched),
            Shl | Shr => self.shift(inst, matched),
            Shf | Bfe | Bfi | Bfind | Clz | Popc | Brev | Prmt | Bmsk | Szext | Fns => {
                self.bit_operation(inst, matched);
            }
            Lop3 => self.lop3(inst, matched),
            Dp4a | Dp2a => self.dot(inst, matched),
            Video => self.video(inst, matched),
            Vmad => self.vmad(inst, matched),
            Vset => self.vset(inst, matched),
            Simd => self.simd(inst, matched),
            Mov => self.mov(inst, matched),
            MovVector => self.mov_vector(inst, matched),
            CvtInt | CvtFloatToInt | CvtIntToFloat | CvtFloat => self.convert(inst, matched),
            CvtPair => self.convert_pair(inst, matched),
            CvtTf32 => self.convert_tf32(inst, matched),
            CvtPack => self.convert_pack(inst, matched),
            Cvta | CvtaTo => self.cvta(inst, matched),
            Isspacep => self.isspacep(inst, matched),
            Load => self.load(inst, matched, guard),
            Store => self.store(inst, matched, guard),
            CpAsync => self.async_copy(inst, matched),
            Atom | AtomCas | Red => self.atomic(inst, matched, guard),
            Shfl | ShflLegacy => self.shfl(inst, matched),
            Vote | VoteLegacy | Ballot | BallotLegacy => self.vote(inst, matched),
            Match => self.match_lanes(inst, matched),
            Redux => self.redux(inst, matched),
            MatrixLoad | MatrixStore => self.matrices(inst, matched),
            MatrixMove => self.transpose(inst),
            MatrixProduct => self.product(inst, matched),
            FragmentLoad => self.load_fragment(inst, matched),
            FragmentStore => self.store_fragment(inst, matched),
            Activemask => self.activemask(inst),
            Barrier | BarrierRed => self.barrier(inst, matched),
            WarpBarrier => self.warp_barrier(inst),
            Fence => self.fence(matched),
            Nanosleep => self.nanosleep(inst),
            Brkpt => self.effect(SimtOp::Brkpt, vec![]),
            Nothing | Prefetch => {}
            Bra | Brx | Call | Ret | Exit | Trap | Unsupported => {
                panic!("{:?} is lowered elsewhere", matched.pattern.row.meaning)
            }
        }
    }
}
