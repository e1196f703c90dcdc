//! Detection of the vector instructions of this machine.

use std::fmt;
use std::sync::OnceLock;

/// An instruction set that the kernels are compiled for, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// The baseline instructions of the target.
    Plain,
    /// AVX2 with fused multiply-add.
    Avx2,
    /// AVX-512 Foundation.
    Avx512,
}

impl Isa {
    const ALL: [Self; 3] = [Self::Plain, Self::Avx2, Self::Avx512];

    /// The best instruction set this machine supports, detected once. The environment variable
    /// `QUADFILL_ISA` (`plain`, `avx2` or `avx512`) can select a lower one.
    pub fn detect() -> Self {
        static DETECTED: OnceLock<Isa> = OnceLock::new();
        *DETECTED.get_or_init(|| {
            let requested = std::env::var("QUADFILL_ISA").ok();
            Self::best_up_to(requested.as_deref())
        })
    }

    fn best_up_to(requested: Option<&str>) -> Self {
        let limit =
            Self::ALL.into_iter().find(|isa| requested == Some(isa.name())).unwrap_or(Self::Avx512);
        Self::ALL
            .into_iter()
            .rfind(|isa| *isa <= limit && isa.is_available())
            .unwrap_or(Self::Plain)
    }

    /// All instruction sets this machine supports, lowest first.
    pub fn available() -> Vec<Self> {
        let mut isas = Self::ALL.to_vec();
        isas.retain(|isa| isa.is_available());
        isas
    }

    pub(crate) fn is_available(self) -> bool {
        match self {
            Self::Plain => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => is_x86_feature_detected!("avx512f") && Self::Avx2.is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lower_instruction_set_can_be_selected_and_a_higher_one_cannot() {
        let best = *Isa::available().last().expect("plain is always available");
        assert_eq!(Isa::best_up_to(None), best);
        assert_eq!(Isa::best_up_to(Some("nonsense")), best);
        assert_eq!(Isa::best_up_to(Some("plain")), Isa::Plain);
        assert!(Isa::best_up_to(Some("avx2")) <= Isa::Avx2);
        assert_eq!(Isa::best_up_to(Some("avx512")), best);
        assert!(Isa::available().contains(&Isa::detect()));
        assert_eq!(Isa::Avx512.to_string(), "avx512");
    }
}
