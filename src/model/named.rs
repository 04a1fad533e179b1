//! Enumerations that CloudStack stores as text, kept open for names that newer releases add.

/// Declares an enum whose variants are database words; an unknown word is kept as `Other`.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$vdoc])* #[doc = concat!("`", $text, "`.")] $variant,)*
            /// A word this version of volrecon does not know.
            Other(String),
        }

        impl $name {
            /// The database's own spelling.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self { $(Self::$variant => $text,)* Self::Other(word) => word }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word { $($text => Self::$variant,)* other => Self::Other(other.to_owned()) }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let word = <std::borrow::Cow<'de, str>>::deserialize(d)?;
                Ok(Self::from(word.as_ref()))
            }
        }
    };
}

pub(super) use named;
