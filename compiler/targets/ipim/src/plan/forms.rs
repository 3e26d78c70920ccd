//! The forms of a pipeline's indices, and what has been found out already of them and of what stages read:
//! modes, tiles and nests ask for the same many times over, in each of the plans that are compared.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Index;
use std::rc::Rc;

use cranelift_entity::SecondaryMap;
use foldhash::fast::FixedState;
use nbcc_stages::bounds::{IndexForm, Interval, Region, index_forms};
use nbcc_stages::{Expr, Func, Pipeline, RDom};

use super::Stage;
use super::access::Access;
use super::corner::Ends;
use super::modes::foreign_accesses;
use super::reads::TiledIndex;

type Memo<K, V> = RefCell<HashMap<K, V, FixedState>>;

/// What the ends of coordinates over the tiles of a nest depend on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    /// The points of the nest.
    pub region: Region,
    /// Where its tiles begin, and their size.
    pub origin: [i32; 2],
    pub tile: [i64; 2],
    /// The domain that runs inside of each point.
    pub rdom: Option<(RDom, Vec<Interval>)>,
    /// The coordinates.
    pub args: Vec<Expr>,
    /// The tile that stands for all, if one does.
    pub only: Option<[u32; 2]>,
}

/// Ends over more tiles are found anew each time, since they take more room than they save time.
const MOST_KEPT: usize = 1 << 13;

/// The form of each index of one pipeline, which whoever asks for more than a form must hand over.
#[derive(Clone, Debug)]
pub struct Forms {
    of: SecondaryMap<Expr, Option<IndexForm>>,
    tiled: Memo<(Expr, u32), Option<Rc<TiledIndex>>>,
    foreign: Memo<(Func, Stage), Rc<[Access]>>,
    ends: Memo<Asked, Rc<[Ends]>>,
}

impl Forms {
    /// The forms of all indices of a pipeline.
    pub fn new(pipeline: &Pipeline) -> Forms {
        Forms {
            of: index_forms(pipeline),
            tiled: Memo::default(),
            foreign: Memo::default(),
            ends: Memo::default(),
        }
    }

    /// An index along tiled dimension `k` of a stage, as [`TiledIndex::of`] reads it.
    pub fn tiled(&self, pipeline: &Pipeline, index: Expr, k: u32) -> Option<Rc<TiledIndex>> {
        if let Some(known) = self.tiled.borrow().get(&(index, k)) {
            return known.clone();
        }
        let new = TiledIndex::of(pipeline, self, index, k).map(Rc::new);
        self.tiled.borrow_mut().insert((index, k), new.clone());
        new
    }

    /// What [`foreign_accesses`] finds of a stage.
    pub fn foreign(&self, pipeline: &Pipeline, func: Func, stage: Stage) -> Rc<[Access]> {
        let mut known = self.foreign.borrow_mut();
        let find = || foreign_accesses(pipeline, func, stage).into();
        Rc::clone(known.entry((func, stage)).or_insert_with(find))
    }

    /// What `find` finds of the ends of coordinates.
    pub(super) fn ends(&self, asked: Asked, find: impl FnOnce() -> Vec<Ends>) -> Rc<[Ends]> {
        if let Some(known) = self.ends.borrow().get(&asked) {
            return Rc::clone(known);
        }
        let new: Rc<[Ends]> = find().into();
        if new.iter().all(|ends| ends.ends.len() <= MOST_KEPT) {
            self.ends.borrow_mut().insert(asked, Rc::clone(&new));
        }
        new
    }
}

impl Index<Expr> for Forms {
    type Output = Option<IndexForm>;

    fn index(&self, expr: Expr) -> &Option<IndexForm> {
        &self.of[expr]
    }
}
