//! Whether pointers keep their promises ([`nbcc_ir::promise`]).

use std::collections::HashMap;
use std::num::NonZeroU32;

use nbcc_analysis::Lanes;
use nbcc_base::Span;
use nbcc_ir::{Type, promise};

use super::{Answer, IntrinsicContext, TrapKind};

/// A pointer of an origin was made under a promise, of a pointer of another origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Origin {
    promise: usize,
    of: usize,
}

/// How an element was reached first since a promise holds: by pointers under it, and otherwise.
#[derive(Clone, Copy, Debug, Default)]
struct Reached {
    /// The number of times that the promise had begun.
    begun: u32,
    /// The numbers of the places.
    by: [Option<NonZeroU32>; 2],
    is_stored: bool,
}

#[derive(Clone, Debug, Default)]
struct Promise {
    begun: u32,
    span: Option<Span>,
    /// The elements of each object that were reached.
    objects: HashMap<u64, Vec<Reached>>,
}

/// What is known of promises in a run.
#[derive(Debug, Default)]
pub(super) struct Promises {
    promises: Vec<Promise>,
    /// The origin of number 0 is none.
    origins: Vec<Origin>,
    numbers: HashMap<Origin, usize>,
    /// The places of accesses, from number 1 on.
    places: Vec<Option<Span>>,
    place_numbers: HashMap<Option<Span>, NonZeroU32>,
    /// The first that was broken.
    pub(super) broken: Option<TrapKind>,
}

impl Promises {
    /// Answers an intrinsic.
    pub(super) fn answer(&mut self, context: &mut IntrinsicContext<'_>) -> Result<Answer, String> {
        let first = context.call.imms.first().copied().unwrap_or_default();
        match context.call.name {
            promise::BEGIN => {
                let promise = self.promise(first);
                promise.begun += 1;
                promise.span = context.span;
                Ok(Answer::Done(None))
            }
            promise::ORIGIN => {
                let of = context.args[0].lane(0) as usize;
                let number = self.origin(Origin { promise: first as usize, of });
                Ok(Answer::Done(Some(Lanes::splat(Type::I32, number as u64))))
            }
            promise::REACH => match self.reach(context) {
                Some(broken) => {
                    let message = broken.to_string();
                    self.broken = Some(broken);
                    Err(message)
                }
                None => Ok(Answer::Done(None)),
            },
            name => Err(format!("{name} has no meaning here")),
        }
    }

    fn promise(&mut self, number: i64) -> &mut Promise {
        let number = number as usize;
        if self.promises.len() <= number {
            self.promises.resize(number + 1, Promise::default());
        }
        &mut self.promises[number]
    }

    fn place(&mut self, span: Option<Span>) -> NonZeroU32 {
        *self.place_numbers.entry(span).or_insert_with(|| {
            self.places.push(span);
            NonZeroU32::new(self.places.len() as u32).expect("a number from 1 on")
        })
    }

    /// The promises of an origin, the last first.
    fn promises_of(&self, origin: usize) -> impl Iterator<Item = usize> {
        let mut at = origin;
        std::iter::from_fn(move || {
            let origin = self.origins.get(at.checked_sub(1)?)?;
            at = origin.of;
            Some(origin.promise)
        })
    }

    fn origin(&mut self, origin: Origin) -> usize {
        if self.promises_of(origin.of).any(|promise| promise == origin.promise) {
            return origin.of;
        }
        *self.numbers.entry(origin).or_insert_with(|| {
            self.origins.push(origin);
            self.origins.len()
        })
    }

    /// Notes that an element is reached; what is wrong with that.
    fn reach(&mut self, context: &IntrinsicContext<'_>) -> Option<TrapKind> {
        let [origin, object, element] = context.args else { return None };
        let (origin, object) = (origin.lane(0) as usize, object.lane(0));
        let element = usize::try_from(element.as_i64()).ok()?;
        let place = self.place(context.span);
        let (&is_store, all) = context.call.imms.split_first()?;
        for &number in all {
            let is_under = self.promises_of(origin).any(|promise| promise as i64 == number);
            let promise = self.promise(number);
            let elements = promise.objects.entry(object).or_default();
            if elements.len() <= element {
                elements.resize(element + 1, Reached::default());
            }
            let reached = &mut elements[element];
            if reached.begun != promise.begun {
                *reached = Reached { begun: promise.begun, ..Reached::default() };
            }
            let (own, other) = (usize::from(is_under), usize::from(!is_under));
            reached.by[own].get_or_insert(place);
            reached.is_stored |= is_store != 0;
            if let (Some(other), true) = (reached.by[other], reached.is_stored) {
                let (mem, promise) = (context.call.mems.first(), promise.span);
                return Some(TrapKind::Promise {
                    element: mem.map(|&mem| (context.name(mem), element)),
                    is_under,
                    other: self.places[other.get() as usize - 1],
                    promise,
                });
            }
        }
        None
    }
}
