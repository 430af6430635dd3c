//! Attributes: their type, their presence, and how they are planned.

use std::fmt;
use std::sync::Arc;

use super::{Body, Nesting};
use crate::validate::Validator;
use crate::value::{IntoValue, Object, Type, Value};

/// One attribute. Constructors set its presence, and methods refine it.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Type, or nested attributes.
    pub shape: Shape,
    /// Source of its value.
    pub presence: Presence,
    /// Purpose, in Markdown.
    pub description: String,
    /// Deprecation notice that names the replacement.
    pub deprecated: Option<String>,
    /// Whether Terraform hides its value.
    pub sensitive: bool,
    /// Whether its value is left out of plan and state.
    pub write_only: bool,
    /// Planned value if it is not configured.
    pub default: Option<Value>,
    /// Whether an update keeps the value of the state if it is not configured.
    pub use_state_for_unknown: bool,
    /// Effect of a change on the resource.
    pub replace: Replace,
    /// Derivation from other attributes if it is not configured.
    pub derived: Option<Derived>,
    /// Rules for its value.
    pub validators: Vec<Validator>,
}

/// Source of an attribute's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Must be configured.
    Required,
    /// May be configured.
    Optional,
    /// Set by the provider.
    Computed,
    /// May be configured, and is set by the provider otherwise.
    OptionalComputed,
}

/// Content of an attribute.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A value of a type.
    Plain(Type),
    /// Attributes with their own presences. The body has no blocks.
    Nested(Nesting, Body),
}

/// Effect of an attribute's change on the resource.
#[derive(Clone, Default)]
pub enum Replace {
    /// Updates it in place.
    #[default]
    Never,
    /// Replaces it.
    Always,
    /// Replaces it if the attribute is configured.
    IfConfigured,
    /// Replaces it if the function returns true for the old and the new value.
    If(Arc<ReplaceRule>),
}

/// Rule that gets the value of the state and the planned value, and returns whether to replace.
pub type ReplaceRule = dyn Fn(&Value, &Value) -> bool + Send + Sync;

/// Derivation of an attribute from other attributes of the same body.
#[derive(Clone)]
pub struct Derived {
    pub(crate) sources: Vec<String>,
    pub(crate) from: Arc<dyn Fn(&Object) -> Value + Send + Sync>,
}

impl Attribute {
    /// Creates an attribute that must be configured.
    pub fn required(ty: Type) -> Self {
        Self::new(Shape::Plain(ty), Presence::Required)
    }

    /// Creates an attribute that may be configured.
    pub fn optional(ty: Type) -> Self {
        Self::new(Shape::Plain(ty), Presence::Optional)
    }

    /// Creates an attribute that the provider sets.
    pub fn computed(ty: Type) -> Self {
        Self::new(Shape::Plain(ty), Presence::Computed)
    }

    /// Creates an attribute that may be configured, and that the provider sets otherwise.
    pub fn optional_computed(ty: Type) -> Self {
        Self::new(Shape::Plain(ty), Presence::OptionalComputed)
    }

    /// Creates an attribute with nested attributes: `name = { … }`, `name = [{ … }]`.
    pub fn nested<N: Into<String>>(
        nesting: Nesting,
        presence: Presence,
        attributes: impl IntoIterator<Item = (N, Self)>,
    ) -> Self {
        let attributes = attributes.into_iter().map(|(name, inner)| (name.into(), inner)).collect();
        Self::new(Shape::Nested(nesting, Body { attributes, ..Body::default() }), presence)
    }

    /// Creates an attribute from a shape and a presence, for schemas made from tables.
    pub fn new(shape: Shape, presence: Presence) -> Self {
        Self {
            shape,
            presence,
            description: String::new(),
            deprecated: None,
            sensitive: false,
            write_only: false,
            default: None,
            use_state_for_unknown: false,
            replace: Replace::Never,
            derived: None,
            validators: Vec::new(),
        }
    }

    /// Sets the description in Markdown.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Marks the attribute as deprecated. `why` names the replacement.
    #[must_use]
    pub fn deprecated(mut self, why: impl Into<String>) -> Self {
        self.deprecated = Some(why.into());
        self
    }

    /// Hides the value in Terraform's output.
    #[must_use]
    pub fn sensitive(mut self) -> Self {
        self.sensitive = true;
        self
    }

    /// Leaves the value out of plan and state. Only `config` of a create or update contains it.
    #[must_use]
    pub fn write_only(mut self) -> Self {
        self.write_only = true;
        self
    }

    /// Sets the planned value for an attribute that is not configured.
    #[must_use]
    pub fn default(mut self, value: impl IntoValue) -> Self {
        self.default = Some(value.into_value());
        self
    }

    /// Keeps the value of the state in an update instead of planning "known after apply". Use it
    /// for values that the server never changes by itself, such as ids and creation times. Within
    /// blocks, an element of a list matches the earlier one with the same index. An element of a
    /// set matches the earlier one with the same configuration.
    #[must_use]
    pub fn use_state_for_unknown(mut self) -> Self {
        self.use_state_for_unknown = true;
        self
    }

    /// Replaces the resource on every change.
    #[must_use]
    pub fn requires_replace(self) -> Self {
        self.replace(Replace::Always)
    }

    /// Sets the effect of a change.
    ///
    /// Elements of a set have no counterpart in the state. Therefore each change of the set counts
    /// as a change of every attribute within it. [`Replace::IfConfigured`] then checks whether the
    /// set is configured, and [`Replace::If`] gets the two sets.
    #[must_use]
    pub fn replace(mut self, replace: Replace) -> Self {
        self.replace = replace;
        self
    }

    /// Computes the value at plan time from `sources` in the same body if it is not configured.
    /// `from` gets the planned object. The value is unknown while a source is unknown.
    ///
    /// ```
    /// use terraform_plugin::schema::Attribute;
    /// use terraform_plugin::{IntoValue, Type};
    ///
    /// let lines = Attribute::optional_computed(Type::Number).derive(["columns"], |plan| {
    ///     plan.get::<i64>("columns").map_or(terraform_plugin::Value::UNKNOWN, |it| (it * 2).into_value())
    /// });
    /// # let _ = lines;
    /// ```
    #[must_use]
    pub fn derive<N: Into<String>>(
        mut self,
        sources: impl IntoIterator<Item = N>,
        from: impl Fn(&Object) -> Value + Send + Sync + 'static,
    ) -> Self {
        let sources = sources.into_iter().map(Into::into).collect();
        self.derived = Some(Derived { sources, from: Arc::new(from) });
        self
    }

    /// Adds a rule for its value.
    #[must_use]
    pub fn validate(mut self, validator: Validator) -> Self {
        self.validators.push(validator);
        self
    }

    /// Returns the type of its values.
    pub fn ty(&self) -> Type {
        match &self.shape {
            Shape::Plain(ty) => ty.clone(),
            Shape::Nested(nesting, body) => nesting.around(body.ty()),
        }
    }

    /// Returns whether the provider may set the value. Terraform allows defaults only for such
    /// attributes.
    pub fn is_computed(&self) -> bool {
        let by_provider = matches!(self.presence, Presence::Computed | Presence::OptionalComputed);
        by_provider || self.default.is_some()
    }

    /// Returns whether the configuration may set the value.
    pub fn is_configurable(&self) -> bool {
        self.presence != Presence::Computed
    }
}

impl fmt::Debug for Replace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Never => "Never",
            Self::Always => "Always",
            Self::IfConfigured => "IfConfigured",
            Self::If(_) => "If(…)",
        })
    }
}

impl fmt::Debug for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Derived").field("sources", &self.sources).finish_non_exhaustive()
    }
}
