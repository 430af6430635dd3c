//! Arguments of channel settings as data. The type of a field decides how it is read and written
//! back, so that a list of fields declares settings, their draft, and the conversions between the
//! two. Only channels use it: `monitor` lists their fields by hand.

use crate::{Secret, Validator};

/// A validated value of a field.
pub trait Argument: Sized {
    /// The value as written by a caller.
    type Draft;

    /// Reads the field `name` by its table. Returns `None` if a required value is absent or
    /// invalid.
    fn read(validator: &mut Validator, name: &'static str, draft: Self::Draft) -> Option<Self>;

    /// Creates the draft that reads as this value.
    fn draft(&self) -> Self::Draft;

    /// Returns the value if it is one text.
    fn text(&self) -> Option<&str> {
        None
    }

    /// Returns the value if it is a secret.
    fn secret(&self) -> Option<&Secret<String>> {
        None
    }
}

impl Argument for String {
    type Draft = Option<Self>;

    fn read(validator: &mut Validator, name: &'static str, draft: Self::Draft) -> Option<Self> {
        validator.text(name, draft)
    }

    fn draft(&self) -> Self::Draft {
        Some(self.clone())
    }

    fn text(&self) -> Option<&str> {
        Some(self)
    }
}

impl Argument for Secret<String> {
    type Draft = Option<Self>;

    fn read(validator: &mut Validator, name: &'static str, draft: Self::Draft) -> Option<Self> {
        validator.secret(name, draft)
    }

    fn draft(&self) -> Self::Draft {
        Some(self.clone())
    }

    fn text(&self) -> Option<&str> {
        Some(self.expose())
    }

    fn secret(&self) -> Option<&Self> {
        Some(self)
    }
}

/// An optional value. An invalid one reads as absent, and the validator keeps the violation.
impl<T: Argument<Draft: Default>> Argument for Option<T> {
    type Draft = T::Draft;

    fn read(validator: &mut Validator, name: &'static str, draft: Self::Draft) -> Option<Self> {
        Some(T::read(validator, name, draft))
    }

    fn draft(&self) -> Self::Draft {
        self.as_ref().map_or_else(T::Draft::default, T::draft)
    }

    fn text(&self) -> Option<&str> {
        self.as_ref().and_then(T::text)
    }

    fn secret(&self) -> Option<&Secret<String>> {
        self.as_ref().and_then(T::secret)
    }
}

/// Settings of a block: a list of fields.
pub trait Settings: Sized {
    /// The settings as written by a caller, every field optional.
    type Draft;

    /// Reads all fields, to report all violations at once.
    fn read(validator: &mut Validator, draft: Self::Draft) -> Option<Self>;

    /// Creates the draft that reads as these settings.
    fn draft(&self) -> Self::Draft;

    /// Returns the fields that are texts, with their names.
    fn texts(&self) -> Vec<(&'static str, &str)>;

    /// Returns the first secret field that is set.
    fn secret(&self) -> Option<&Secret<String>>;
}

/// Declares settings with their draft: one line per field, named as in the table.
macro_rules! settings {
    ($($(#[$doc:meta])* $settings:ident, $draft:ident {
        $($(#[$field_doc:meta])* $field:ident: $type:ty,)+
    })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub struct $settings { $($(#[$field_doc])* pub $field: $type,)+ }

        #[doc = concat!("[`", stringify!($settings), "`] as written by a caller.")]
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $draft { $(pub $field: <$type as $crate::argument::Argument>::Draft,)+ }

        impl $crate::argument::Settings for $settings {
            type Draft = $draft;

            fn read(validator: &mut $crate::Validator, draft: $draft) -> Option<Self> {
                use $crate::argument::Argument;
                $(let $field = <$type>::read(validator, stringify!($field), draft.$field);)+
                Some(Self { $($field: $field?,)+ })
            }

            fn draft(&self) -> $draft {
                $draft { $($field: $crate::argument::Argument::draft(&self.$field),)+ }
            }

            fn texts(&self) -> Vec<(&'static str, &str)> {
                let texts = [$((
                    stringify!($field),
                    $crate::argument::Argument::text(&self.$field),
                ),)+];
                texts.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
            }

            fn secret(&self) -> Option<&$crate::Secret<String>> {
                let secrets = [$($crate::argument::Argument::secret(&self.$field),)+];
                secrets.into_iter().flatten().next()
            }
        }
    )+};
}

pub(crate) use settings;
