//! Arguments as data. The type of a field decides how it is read and written back, so that a list of
//! fields declares settings, their draft, and the conversions between the two.

use crate::{
    IpVersion, Method, NumberComparator, OpsgenieRegion, Periodicity, RecordComparator, RecordKind,
    Region, Secret, Tag, TextComparator, Validator,
};

/// A validated value of a field.
pub trait FieldValue: Sized {
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

impl FieldValue for String {
    type Draft = Option<Self>;

    fn read(validator: &mut Validator, name: &'static str, draft: Self::Draft) -> Option<Self> {
        validator.text(name, draft)
    }

    #[inline]
    fn draft(&self) -> Self::Draft {
        Some(self.clone())
    }

    fn text(&self) -> Option<&str> {
        Some(self)
    }
}

impl FieldValue for Secret<String> {
    type Draft = Option<Self>;

    fn read(validator: &mut Validator, name: &'static str, draft: Self::Draft) -> Option<Self> {
        validator.secret(name, draft)
    }

    #[inline]
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

impl FieldValue for bool {
    type Draft = Option<Self>;

    fn read(validator: &mut Validator, name: &'static str, draft: Self::Draft) -> Option<Self> {
        validator.boolean(name, draft)
    }

    #[inline]
    fn draft(&self) -> Self::Draft {
        Some(*self)
    }
}

/// Declares unsigned integers as arguments. The tables have no negative bounds for them.
macro_rules! integers {
    ($($integer:ty),+) => {$(
        impl FieldValue for $integer {
            type Draft = Option<i32>;

            fn read(
                validator: &mut Validator,
                name: &'static str,
                draft: Self::Draft,
            ) -> Option<Self> {
                let number = validator.integer(name, draft)?;
                Some(number.try_into().expect("the bounds of the table are within the type"))
            }

            #[inline]
            fn draft(&self) -> Self::Draft {
                Some((*self).try_into().expect("the bounds of the table are within i32"))
            }
        }
    )+};
}

integers!(u8, u16, u32);

/// Declares enumerations as arguments, written by their names.
macro_rules! words {
    ($($word:ident),+) => {$(
        impl FieldValue for $word {
            type Draft = Option<String>;

            fn read(
                validator: &mut Validator,
                name: &'static str,
                draft: Self::Draft,
            ) -> Option<Self> {
                validator.word(name, draft)
            }

            #[inline]
            fn draft(&self) -> Self::Draft {
                Some(self.as_str().to_owned())
            }

            fn text(&self) -> Option<&str> {
                Some(self.as_str())
            }
        }
    )+};
}

words!(
    IpVersion,
    Method,
    NumberComparator,
    OpsgenieRegion,
    Periodicity,
    RecordComparator,
    RecordKind,
    TextComparator
);

/// A set of regions, sorted.
impl FieldValue for Vec<Region> {
    type Draft = Vec<String>;

    fn read(validator: &mut Validator, name: &'static str, draft: Self::Draft) -> Option<Self> {
        Some(validator.variant_set(name, draft))
    }

    #[inline]
    fn draft(&self) -> Self::Draft {
        self.iter().map(ToString::to_string).collect()
    }
}

/// A set of tags, sorted.
impl FieldValue for Vec<Tag> {
    type Draft = Vec<String>;

    fn read(validator: &mut Validator, name: &'static str, draft: Self::Draft) -> Option<Self> {
        Some(validator.tags(name, draft))
    }

    #[inline]
    fn draft(&self) -> Self::Draft {
        self.iter().map(ToString::to_string).collect()
    }
}

/// Blocks of the same name, in order.
impl<T: Settings> FieldValue for Vec<T> {
    type Draft = Vec<T::Draft>;

    fn read(validator: &mut Validator, name: &'static str, draft: Self::Draft) -> Option<Self> {
        Some(validator.blocks(name, draft, T::read))
    }

    #[inline]
    fn draft(&self) -> Self::Draft {
        self.iter().map(T::draft).collect()
    }
}

/// An optional value. An invalid one reads as absent, and the validator keeps the violation.
impl<T: FieldValue<Draft: Default>> FieldValue for Option<T> {
    type Draft = T::Draft;

    fn read(validator: &mut Validator, name: &'static str, draft: Self::Draft) -> Option<Self> {
        Some(T::read(validator, name, draft))
    }

    #[inline]
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

/// Declares settings with their draft: one line per field, named as in the table. `checked by` names
/// the function that checks rules between fields: it gets the validator and the settings, and returns
/// the settings unless it rejects them.
macro_rules! settings {
    ($($(#[$doc:meta])* $settings:ident, $draft:ident $(checked by $check:ident)? {
        $($(#[$field_doc:meta])* $field:ident: $type:ty,)+
    })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub struct $settings { $($(#[$field_doc])* pub $field: $type,)+ }

        $crate::argument::draft_of! {
            $settings, $draft $(checked by $check)? { $($field: $type,)+ }
        }
    )+};
}

/// Declares the draft of settings, and the conversions between the two.
macro_rules! draft_of {
    ($settings:ident, $draft:ident $(checked by $check:ident)? {
        $($field:ident: $type:ty,)+
    }) => {
        #[doc = concat!("[`", stringify!($settings), "`] as written by a caller.")]
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $draft { $(pub $field: <$type as $crate::argument::FieldValue>::Draft,)+ }

        impl $crate::argument::Settings for $settings {
            type Draft = $draft;

            fn read(validator: &mut $crate::Validator, draft: $draft) -> Option<Self> {
                use $crate::argument::FieldValue;
                $(let $field = <$type>::read(validator, stringify!($field), draft.$field);)+
                let settings = Self { $($field: $field?,)+ };
                $(let settings = $check(validator, settings)?;)?
                Some(settings)
            }

            #[inline]
            fn draft(&self) -> $draft {
                $draft { $($field: $crate::argument::FieldValue::draft(&self.$field),)+ }
            }

            fn texts(&self) -> Vec<(&'static str, &str)> {
                let texts = [$((
                    stringify!($field),
                    $crate::argument::FieldValue::text(&self.$field),
                ),)+];
                texts.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
            }

            fn secret(&self) -> Option<&$crate::Secret<String>> {
                let secrets = [$($crate::argument::FieldValue::secret(&self.$field),)+];
                secrets.into_iter().flatten().next()
            }
        }
    };
}

pub(crate) use draft_of;
pub(crate) use settings;
