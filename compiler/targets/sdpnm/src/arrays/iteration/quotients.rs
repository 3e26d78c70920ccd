//! What counts the loops that a nest was made of, as operations: quotients of the iteration.

use nbcc_ir::Value;
use nbcc_isa_sdpnm::config::{Opcode, Options};

use super::body::Operand;
use super::build::{Builder, Building};
use crate::arrays::facts::evolution::reciprocal;

impl Builder<'_> {
    /// The quotient of the iteration by a period, times a factor.
    pub(super) fn quotient(&mut self, period: u32, factor: i32) -> Building<Operand> {
        let params = &self.func.blocks[self.shape.header].params;
        // What counts iterations, in steps.
        let counts = |&param: &Value| {
            let of = self.evolutions.of(param).filter(|of| of.start.as_constant() == Some(0))?;
            let step = u32::try_from(of.step.as_constant()?).ok().filter(|&step| step > 0)?;
            Some((param, step))
        };
        let (Some((iteration, step)), Some(trips)) =
            (params.iter().find_map(counts), self.evolutions.trips())
        else {
            return self.refuse("quotients of what counts iterations elsewhere");
        };
        let ways = period.checked_mul(step).zip(trips.checked_mul(step));
        let Some((by, amount)) = ways.and_then(|(period, count)| reciprocal(period, count)) else {
            return self.refuse(format!("quotients by {period}"));
        };
        let (iteration, _) = self.word(iteration)?;
        let quotient = match by {
            1 => self.op(Opcode::Lrs, iteration, Operand::Immediate(amount as i32)),
            by => {
                // The iteration has 15 bits.
                let unsigned2 = i16::try_from(by).is_err();
                let options = Options { scale: amount as u8, unsigned2, ..Options::default() };
                let by = Operand::Immediate(by as i32);
                Operand::node(self.node(Opcode::MultS, options, iteration, by, None))
            }
        };
        // Quotients have 16 bits, and so must factors, but for powers of two.
        let zeros = if i16::try_from(factor).is_ok() { 0 } else { factor.trailing_zeros() };
        let part = match i16::try_from(factor >> zeros) {
            Ok(1) => quotient,
            Ok(factor) => self.op(Opcode::MultS, quotient, Operand::Immediate(factor.into())),
            Err(_) => return self.refuse("subscripts of a nest that grow by so much"),
        };
        Ok(match zeros {
            0 => part,
            amount => self.op(Opcode::LSftS, part, Operand::Immediate(amount as i32)),
        })
    }
}
