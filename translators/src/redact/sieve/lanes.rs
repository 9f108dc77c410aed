//! 32 windows at once, where the processor has AVX2.
//!
//! In: the groups; then a text. Out: the ends of the windows that some group is open to in all places. Each byte is looked up by its
//! two halves in tables of sixteen bytes, eight groups to a table. Never: a window left out that a group is open to.

use super::groups::{GROUPS, Group, PLACES};

/// The halves of a byte in one place; for each, the groups (a bit each) that are open to some byte with it. They stand there
/// twice, as a register of 32 bytes is looked up by halves of its own.
type Halves = [u8; 32];

/// Half of the groups: so many are the bits of a byte.
#[derive(Debug, Default)]
struct Tables {
    low: [Halves; PLACES],
    high: [Halves; PLACES],
}

#[derive(Debug, Default)]
pub(super) struct Lanes {
    tables: [Tables; GROUPS / 8],
}

/// So many windows are looked at together, which have so many bytes.
#[cfg(target_arch = "x86_64")]
const LANES: usize = 32;
#[cfg(target_arch = "x86_64")]
const BYTES: usize = PLACES - 1 + LANES;

impl Lanes {
    pub(super) fn new(groups: &[Group; GROUPS]) -> Self {
        let mut this = Self::default();
        for (tables, groups) in this.tables.iter_mut().zip(groups.chunks(8)) {
            for (nth, group) in groups.iter().enumerate() {
                let places = tables.low.iter_mut().zip(&mut tables.high).zip(&group.classes);
                for ((low, high), class) in places {
                    for byte in (0..=u8::MAX).filter(|byte| class.has(*byte)) {
                        for (halves, half) in [(&mut *low, byte & 0xF), (&mut *high, byte >> 4)] {
                            let both = halves.iter_mut().skip(usize::from(half)).step_by(16);
                            both.for_each(|open| *open |= 1 << nth);
                        }
                    }
                }
            }
        }
        this
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Lanes {
    /// Not on this processor: `None`.
    pub(super) fn any(&self, _text: &[u8], _is_it: &mut impl FnMut(usize) -> bool) -> Option<bool> {
        None
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{BYTES, GROUPS, LANES, Lanes, PLACES, Tables};
    use std::arch::x86_64::{
        __m256i, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256,
        _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_testz_si256,
    };

    impl Lanes {
        /// Tells the end of each window that is left over, until `is_it` says so of one; whether it did. An end may lie behind the
        /// text's. `None`: not on this processor.
        pub(in super::super) fn any(&self, text: &[u8], is_it: &mut impl FnMut(usize) -> bool) -> Option<bool> {
            if !std::arch::is_x86_feature_detected!("avx2") {
                return None;
            }
            // SAFETY: the function needs nothing but a processor that has AVX2, and this one was just asked.
            #[allow(unsafe_code)]
            let found = unsafe { self.look(text, is_it) };
            Some(found)
        }

        #[target_feature(enable = "avx2")]
        fn look(&self, text: &[u8], is_it: &mut impl FnMut(usize) -> bool) -> bool {
            // In front of the text stands what is in no literal, and so it does behind a short one.
            let mut padded = [0; BYTES];
            let (front, _) = text.split_at(text.len().min(LANES));
            if let (Some(front), Some(room)) = (front.first_chunk::<LANES>(), padded.last_chunk_mut()) {
                *room = *front;
            } else {
                padded.iter_mut().skip(PLACES - 1).zip(front).for_each(|(to, from)| *to = *from);
            }
            if tell(left_over(&self.tables, &padded), 0, is_it) {
                return true;
            }
            let mut from = LANES;
            while let Some(bytes) = text.get(from + 1 - PLACES..).and_then(|rest| rest.first_chunk()) {
                if tell(left_over(&self.tables, bytes), from, is_it) {
                    return true;
                }
                from += LANES;
            }
            if from >= text.len() {
                return false;
            }
            if let Some(bytes) = text.last_chunk() {
                // Its first windows were looked at already.
                let first = text.len() - LANES;
                let told = u32::MAX << (from - first);
                return tell(left_over(&self.tables, bytes) & told, first, is_it);
            }
            padded = [0; BYTES];
            let rest = text.get(from + 1 - PLACES..).unwrap_or_default();
            padded.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            tell(left_over(&self.tables, &padded), from, is_it)
        }
    }

    /// Tells the ends of windows, a bit each.
    #[inline]
    fn tell(mut windows: u32, from: usize, is_it: &mut impl FnMut(usize) -> bool) -> bool {
        while windows != 0 {
            if is_it(from + windows.trailing_zeros() as usize + 1) {
                return true;
            }
            windows &= windows - 1;
        }
        false
    }

    /// The windows that some group is open to, a bit each.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn left_over(tables: &[Tables; GROUPS / 8], bytes: &[u8; BYTES]) -> u32 {
        let mut open = [_mm256_set1_epi8(-1); GROUPS / 8];
        // Most windows are ruled out by their last places.
        narrow::<7>(&mut open, tables, bytes);
        narrow::<6>(&mut open, tables, bytes);
        narrow::<5>(&mut open, tables, bytes);
        narrow::<4>(&mut open, tables, bytes);
        let any = _mm256_or_si256(open[0], open[1]);
        if _mm256_testz_si256(any, any) == 1 {
            return 0;
        }
        narrow::<3>(&mut open, tables, bytes);
        narrow::<2>(&mut open, tables, bytes);
        narrow::<1>(&mut open, tables, bytes);
        narrow::<0>(&mut open, tables, bytes);
        let any = _mm256_or_si256(open[0], open[1]);
        !_mm256_movemask_epi8(_mm256_cmpeq_epi8(any, _mm256_setzero_si256())).cast_unsigned()
    }

    /// Takes away the groups that are not open to the byte in that place.
    #[inline]
    #[allow(clippy::indexing_slicing, reason = "the compiler knows that the place is one")]
    #[target_feature(enable = "avx2")]
    fn narrow<const PLACE: usize>(
        open: &mut [__m256i; GROUPS / 8],
        tables: &[Tables; GROUPS / 8],
        bytes: &[u8; BYTES],
    ) {
        let bytes = load::<PLACE, BYTES>(bytes);
        let half = _mm256_set1_epi8(0xF);
        let (low, high) = (_mm256_and_si256(bytes, half), _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half));
        for (open, tables) in open.iter_mut().zip(tables) {
            let to_low = _mm256_shuffle_epi8(load::<0, 32>(&tables.low[PLACE]), low);
            let to_high = _mm256_shuffle_epi8(load::<0, 32>(&tables.high[PLACE]), high);
            *open = _mm256_and_si256(*open, _mm256_and_si256(to_low, to_high));
        }
    }

    /// 32 of the bytes, such as those in one place of all windows.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load<const FROM: usize, const SIZE: usize>(bytes: &[u8; SIZE]) -> __m256i {
        const { assert!(FROM + 32 <= SIZE) }
        // SAFETY: 32 bytes from FROM on lie within the array, as is asserted above; they need not be aligned.
        #[allow(unsafe_code)]
        unsafe {
            _mm256_loadu_si256(bytes.as_ptr().add(FROM).cast::<__m256i>())
        }
    }
}
