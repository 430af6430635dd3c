//! Provider functions: `provider::name::function(…)`. They are pure and need no configuration.
//! Terraform may call them at any time, even during validation.

use crate::value::{FromValue, IntoValue, Type, Value};

/// A function of the provider.
///
/// ```
/// use terraform_plugin::function::{Arguments, Function, FunctionError, Signature};
/// use terraform_plugin::{IntoValue, Type, Value};
///
/// struct Seconds;
///
/// impl Function for Seconds {
///     fn signature(&self) -> Signature {
///         Signature::new("Minutes as seconds.", Type::Number)
///             .parameter("minutes", Type::Number, "How many minutes.")
///     }
///
///     fn call(&self, arguments: &Arguments) -> Result<Value, FunctionError> {
///         let minutes: i64 = arguments.get(0)?;
///         let seconds = minutes.checked_mul(60);
///         let seconds = seconds.ok_or_else(|| FunctionError::at(0, "too many minutes"))?;
///         Ok(seconds.into_value())
///     }
/// }
///
/// assert_eq!(Seconds.call(&Arguments::from_values([3])), Ok(180.into_value()));
/// ```
pub trait Function: Send + Sync + 'static {
    /// Returns its parameters and result. Called once.
    fn signature(&self) -> Signature;

    /// Computes its value. Terraform has checked the types of the arguments.
    ///
    /// # Errors
    /// Fails if an argument is invalid.
    fn call(&self, arguments: &Arguments) -> Result<Value, FunctionError>;
}

/// Parameters and result of a function.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Description in one line.
    pub summary: String,
    /// Description in Markdown.
    pub description: String,
    /// Deprecation notice that names the replacement.
    pub deprecated: Option<String>,
    pub parameters: Vec<Parameter>,
    /// Parameter for any number of further arguments.
    pub variadic: Option<Parameter>,
    /// Type of its value.
    pub returns: Type,
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter {
    pub name: String,
    pub ty: Type,
    /// Purpose, in Markdown.
    pub description: String,
    pub allow_null: bool,
    /// Whether the function is called with an unknown argument. Otherwise its value is unknown too.
    pub allow_unknown: bool,
}

/// An invalid call of a function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct FunctionError {
    /// Message for people.
    pub text: String,
    /// Index of the argument, from zero.
    pub argument: Option<usize>,
}

/// The arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments(pub(crate) Vec<Value>);

impl Signature {
    /// Creates a signature without parameters.
    pub fn new(summary: impl Into<String>, returns: Type) -> Self {
        Self {
            summary: summary.into(),
            description: String::new(),
            deprecated: None,
            parameters: Vec::new(),
            variadic: None,
            returns,
        }
    }

    /// Sets the description in Markdown.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Marks the function as deprecated. `why` names the replacement.
    #[must_use]
    pub fn deprecated(mut self, why: impl Into<String>) -> Self {
        self.deprecated = Some(why.into());
        self
    }

    /// Adds a parameter that accepts neither null nor unknown values.
    #[must_use]
    pub fn parameter(mut self, name: &str, ty: Type, description: &str) -> Self {
        self.parameters.push(Parameter::new(name, ty, description));
        self
    }

    /// Adds a parameter.
    #[must_use]
    pub fn with_parameter(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// Sets the parameter for any number of further arguments.
    #[must_use]
    pub fn variadic(mut self, parameter: Parameter) -> Self {
        self.variadic = Some(parameter);
        self
    }
}

impl Parameter {
    /// Creates a parameter that accepts neither null nor unknown values.
    pub fn new(name: &str, ty: Type, description: &str) -> Self {
        let (name, description) = (name.to_owned(), description.to_owned());
        Self { name, ty, description, allow_null: false, allow_unknown: false }
    }

    /// Accepts null.
    #[must_use]
    pub fn allow_null(mut self) -> Self {
        self.allow_null = true;
        self
    }

    /// Accepts unknown values.
    #[must_use]
    pub fn allow_unknown(mut self) -> Self {
        self.allow_unknown = true;
        self
    }
}

impl FunctionError {
    /// Creates an error that belongs to no argument.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), argument: None }
    }

    /// Creates an error of an argument, counted from zero.
    pub fn at(argument: usize, text: impl Into<String>) -> Self {
        Self { text: text.into(), argument: Some(argument) }
    }
}

impl Arguments {
    /// Creates arguments of one type, for tests of functions.
    pub fn from_values<T: IntoValue>(arguments: impl IntoIterator<Item = T>) -> Self {
        Self(arguments.into_iter().map(IntoValue::into_value).collect())
    }

    /// Returns the argument at an index as a Rust type.
    ///
    /// # Errors
    /// Fails if the value does not convert.
    pub fn get<T: FromValue>(&self, index: usize) -> Result<T, FunctionError> {
        let value = self.0.get(index).unwrap_or(&Value::Null);
        T::from_value(value).map_err(|mismatch| FunctionError::at(index, mismatch.to_string()))
    }

    /// Returns all arguments. Those of a variadic parameter come last.
    pub fn values(&self) -> &[Value] {
        &self.0
    }
}
