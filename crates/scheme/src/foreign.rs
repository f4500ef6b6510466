//! What C functions take and give: the types of `c-procedure`.
//!
//! Nothing that C sees lies in the region: numbers and pointers are passed by value, strings are copied. So the
//! region may move as always.

/// A C function that the program calls.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// Its name in C.
    pub name: String,
    /// The header that declares it; without one the declared types are all that is known.
    pub header: Option<String>,
    /// What it takes.
    pub params: Vec<&'static CType>,
    /// What it gives.
    pub result: &'static CType,
}

/// A type of C's, by its name in Scheme.
#[derive(Debug)]
pub struct CType {
    /// The name in `c-procedure`.
    pub name: &'static str,
    /// The name in C.
    pub c: &'static str,
    /// What a value is in Scheme.
    pub kind: Kind,
}

/// What a C value is in Scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An exact integer of so many bits, one of them the sign.
    Signed(u32),
    /// An exact integer of so many bits, and not negative.
    Unsigned(u32),
    /// A real number.
    Real,
    /// `#t` or `#f`.
    Bool,
    /// A string, which is copied as UTF-8 with a NUL at its end.
    String,
    /// A pointer, of which Scheme knows nothing.
    Pointer,
    /// Nothing; results only.
    Void,
}

const fn t(name: &'static str, c: &'static str, kind: Kind) -> CType {
    CType { name, c, kind }
}

/// All types. `long` and `size_t` have 64 bits on the processors that this compiler is for.
static TYPES: [CType; 25] = [
    t("int8", "int8_t", Kind::Signed(8)),
    t("int16", "int16_t", Kind::Signed(16)),
    t("int32", "int32_t", Kind::Signed(32)),
    t("int64", "int64_t", Kind::Signed(64)),
    t("uint8", "uint8_t", Kind::Unsigned(8)),
    t("uint16", "uint16_t", Kind::Unsigned(16)),
    t("uint32", "uint32_t", Kind::Unsigned(32)),
    t("uint64", "uint64_t", Kind::Unsigned(64)),
    t("short", "short", Kind::Signed(16)),
    t("int", "int", Kind::Signed(32)),
    t("long", "long", Kind::Signed(64)),
    t("long-long", "long long", Kind::Signed(64)),
    t("unsigned-char", "unsigned char", Kind::Unsigned(8)),
    t("unsigned-short", "unsigned short", Kind::Unsigned(16)),
    t("unsigned-int", "unsigned int", Kind::Unsigned(32)),
    t("unsigned-long", "unsigned long", Kind::Unsigned(64)),
    t("unsigned-long-long", "unsigned long long", Kind::Unsigned(64)),
    t("size_t", "size_t", Kind::Unsigned(64)),
    t("ssize_t", "int64_t", Kind::Signed(64)),
    t("float", "float", Kind::Real),
    t("double", "double", Kind::Real),
    t("bool", "_Bool", Kind::Bool),
    t("string", "const char *", Kind::String),
    t("pointer", "void *", Kind::Pointer),
    t("void", "void", Kind::Void),
];

impl CType {
    /// The type of a name.
    pub fn find(name: &str) -> Option<&'static CType> {
        TYPES.iter().find(|t| t.name == name)
    }

    /// The names of all types, for messages.
    pub fn names() -> String {
        TYPES.iter().map(|t| t.name).collect::<Vec<_>>().join(", ")
    }

    /// What an argument must be, for messages.
    pub fn wanted(&self) -> String {
        let what = match self.kind {
            Kind::Signed(bits) => {
                let most = i64::MAX >> (64 - bits);
                format!("an exact integer from {} to {most}", -most - 1)
            }
            Kind::Unsigned(bits) => {
                format!("an exact integer from 0 to {}", u64::MAX >> (64 - bits))
            }
            Kind::Real => "a real number".into(),
            Kind::Bool => "a boolean".into(),
            Kind::String => "a string without #\\null".into(),
            Kind::Pointer => "a pointer".into(),
            Kind::Void => "nothing".into(),
        };
        format!("{what} ({})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_says_the_range() {
        let wanted = |name| CType::find(name).unwrap().wanted();
        assert_eq!(wanted("int8"), "an exact integer from -128 to 127 (int8)");
        assert_eq!(wanted("uint64"), "an exact integer from 0 to 18446744073709551615 (uint64)");
        assert_eq!(
            wanted("int64"),
            format!("an exact integer from {} to {} (int64)", i64::MIN, i64::MAX)
        );
        assert!(CType::find("char *").is_none());
    }
}
