//! Dense arrays of numbers as they lie in a file.

use std::borrow::Cow;

/// What one element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

impl Element {
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }

    pub(crate) fn is_integer(self) -> bool {
        !matches!(self, Self::F32 | Self::F64)
    }
}

/// Which index runs fastest in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The last one.
    C,
    /// The first one.
    Fortran,
}

/// An array whose bytes are known to be as many as its shape needs.
#[derive(Debug, Clone)]
pub(crate) struct Array<'a> {
    pub shape: Vec<usize>,
    order: Order,
    element: Element,
    big_endian: bool,
    bytes: Cow<'a, [u8]>,
}

impl<'a> Array<'a> {
    /// Checks the size; the error says in words what does not fit.
    pub(crate) fn new(
        shape: Vec<usize>,
        order: Order,
        element: Element,
        big_endian: bool,
        bytes: Cow<'a, [u8]>,
    ) -> Result<Self, String> {
        let needed = shape
            .iter()
            .try_fold(element.bytes(), |product, &size| product.checked_mul(size))
            .ok_or("its shape is larger than any memory")?;
        if bytes.len() < needed {
            return Err(format!(
                "its shape needs {needed} bytes of numbers, there are {}",
                bytes.len()
            ));
        }
        Ok(Self { shape, order, element, big_endian, bytes })
    }

    /// How many elements there are.
    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    pub(crate) fn element(&self) -> Element {
        self.element
    }

    /// How far apart neighbours along each dimension lie, in elements.
    pub(crate) fn strides(&self) -> Vec<usize> {
        let mut strides = vec![1; self.shape.len()];
        let mut step = 1;
        let mut set = |dimension: usize| {
            strides[dimension] = step;
            step *= self.shape[dimension];
        };
        match self.order {
            Order::C => (0..self.shape.len()).rev().for_each(&mut set),
            Order::Fortran => (0..self.shape.len()).for_each(&mut set),
        }
        strides
    }

    /// A number as the array would hold it.
    pub(crate) fn as_stored(&self, number: f64) -> f64 {
        match self.element {
            Element::F32 => f64::from(number as f32),
            _ => number,
        }
    }

    /// The element at a position in memory.
    #[inline]
    pub(crate) fn number(&self, position: usize) -> f64 {
        match self.element {
            Element::F32 => f64::from(f32::from_bits(self.bits(position) as u32)),
            Element::F64 => f64::from_bits(self.bits(position)),
            Element::U8 | Element::U16 | Element::U32 | Element::U64 => self.bits(position) as f64,
            _ => self.integer(position) as f64,
        }
    }

    /// The element at a position in memory of an array of integers; those past the largest `i64`
    /// become that.
    #[inline]
    pub(crate) fn integer(&self, position: usize) -> i64 {
        let bits = self.bits(position);
        match self.element {
            Element::I8 => i64::from(bits as i8),
            Element::I16 => i64::from(bits as i16),
            Element::I32 => i64::from(bits as i32),
            Element::I64 => bits as i64,
            _ => i64::try_from(bits).unwrap_or(i64::MAX),
        }
    }

    #[inline]
    fn bits(&self, position: usize) -> u64 {
        let size = self.element.bytes();
        let bytes = &self.bytes[position * size..][..size];
        let mut word = [0u8; 8];
        if self.big_endian {
            word[8 - size..].copy_from_slice(bytes);
            u64::from_be_bytes(word)
        } else {
            word[..size].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        }
    }
}
