//! Values with numbers that are used again after removal, lowest free number last
//! freed first.

/// A table of values by number.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    values: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    /// An empty table.
    pub fn new() -> Slab<T> {
        Slab { values: Vec::new(), free: Vec::new() }
    }

    /// Stores a value and returns its number.
    #[inline]
    pub fn insert(&mut self, value: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.values[number as usize] = Some(value);
            return number;
        }
        self.values.push(Some(value));
        self.values.len() as u32 - 1
    }

    /// The value with this number.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&T> {
        self.values[number as usize].as_ref()
    }

    /// As [`Slab::get`], to be changed.
    #[inline]
    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.values[number as usize].as_mut()
    }

    /// Takes a value out.
    ///
    /// # Panics
    /// When there is none with this number.
    #[inline]
    pub fn remove(&mut self, number: u32) -> T {
        self.free.push(number);
        self.values[number as usize].take().expect("a value with this number")
    }

    /// The values with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let numbered = self.values.iter().zip(0..);
        numbered.filter_map(|(value, number)| Some((number, value.as_ref()?)))
    }

    /// Number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.values.len() - self.free.len()
    }

    /// Whether there is no value.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Default for Slab<T> {
    fn default() -> Slab<T> {
        Slab::new()
    }
}
