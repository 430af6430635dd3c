//! Provider functions: `provider::name::function(…)`. They are pure, need no configuration and may
//! be called at any time, also while a configuration is only checked.

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
/// assert_eq!(Seconds.call(&Arguments::of([3])), Ok(180.into_value()));
/// ```
pub trait Function: Send + Sync + 'static {
    /// Its parameters and result. Asked once.
    fn signature(&self) -> Signature;

    /// Its value. Terraform has checked the types of the arguments.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    fn call(&self, arguments: &Arguments) -> Result<Value, FunctionError>;
}

/// Parameters and result of a function.
#[derive(Clone, Debug)]
pub struct Signature {
    /// What it does, in one line.
    pub summary: String,
    /// What it does, in Markdown.
    pub description: String,
    /// Why not to use it any more, and what to use instead.
    pub deprecated: Option<String>,
    /// In order.
    pub parameters: Vec<Parameter>,
    /// For any number of further arguments.
    pub variadic: Option<Parameter>,
    /// The type of its value.
    pub returns: Type,
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// What it is for, in Markdown.
    pub description: String,
    /// Whether it may be null.
    pub allow_null: bool,
    /// Whether the function is called while it is unknown. Otherwise its value is unknown too.
    pub allow_unknown: bool,
}

/// What is wrong with a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct FunctionError {
    /// For a person.
    pub text: String,
    /// The argument, counted from zero.
    pub argument: Option<usize>,
}

/// The arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments(pub(crate) Vec<Value>);

impl Signature {
    /// Without parameters.
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

    /// The same with a description in Markdown.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// The same, no longer to be used: `why` also says what to use.
    #[must_use]
    pub fn deprecated(mut self, why: impl Into<String>) -> Self {
        self.deprecated = Some(why.into());
        self
    }

    /// The same with one more parameter, neither null nor unknown.
    #[must_use]
    pub fn parameter(mut self, name: &str, ty: Type, description: &str) -> Self {
        self.parameters.push(Parameter::new(name, ty, description));
        self
    }

    /// The same with one more parameter.
    #[must_use]
    pub fn with(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// The same with a parameter for any number of further arguments.
    #[must_use]
    pub fn variadic(mut self, parameter: Parameter) -> Self {
        self.variadic = Some(parameter);
        self
    }
}

impl Parameter {
    /// A parameter that is neither null nor unknown.
    pub fn new(name: &str, ty: Type, description: &str) -> Self {
        let (name, description) = (name.to_owned(), description.to_owned());
        Self { name, ty, description, allow_null: false, allow_unknown: false }
    }

    /// The same, which may be null.
    #[must_use]
    pub fn allow_null(mut self) -> Self {
        self.allow_null = true;
        self
    }

    /// The same, which may be unknown.
    #[must_use]
    pub fn allow_unknown(mut self) -> Self {
        self.allow_unknown = true;
        self
    }
}

impl FunctionError {
    /// An error of the whole call.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), argument: None }
    }

    /// An error of an argument, counted from zero.
    pub fn at(argument: usize, text: impl Into<String>) -> Self {
        Self { text: text.into(), argument: Some(argument) }
    }
}

impl Arguments {
    /// Arguments of one type: for tests of functions.
    pub fn of<T: IntoValue>(arguments: impl IntoIterator<Item = T>) -> Self {
        Self(arguments.into_iter().map(IntoValue::into_value).collect())
    }

    /// The argument at an index as a Rust type.
    ///
    /// # Errors
    /// When it does not convert.
    pub fn get<T: FromValue>(&self, index: usize) -> Result<T, FunctionError> {
        let value = self.0.get(index).unwrap_or(&Value::Null);
        T::from_value(value).map_err(|mismatch| FunctionError::at(index, mismatch.to_string()))
    }

    /// All of them; those of a variadic parameter stand at the end.
    pub fn values(&self) -> &[Value] {
        &self.0
    }
}
