//! Attributes: type, presence, and how they are planned.

use std::fmt;
use std::sync::Arc;

use super::{Body, Nesting};
use crate::validate::Validator;
use crate::value::{IntoValue, Object, Type, Value};

/// One attribute. Built by its presence, then refined.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its type, or the attributes nested in it.
    pub shape: Shape,
    /// Who says its value.
    pub presence: Presence,
    /// What it is for, in Markdown.
    pub description: String,
    /// Why not to use it any more, and what to use instead.
    pub deprecated: Option<String>,
    /// Whether Terraform hides it.
    pub sensitive: bool,
    /// Whether it never reaches plan or state.
    pub write_only: bool,
    /// Planned where the configuration leaves it out.
    pub default: Option<Value>,
    /// Whether an update keeps the value of the state, where the configuration leaves it out.
    pub keep: bool,
    /// Whether a change of it replaces the resource.
    pub replace: Replace,
    /// How it follows from other attributes, where the configuration leaves it out.
    pub derived: Option<Derived>,
    /// Rules of its value.
    pub validators: Vec<Validator>,
}

/// Who says an attribute's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The configuration must.
    Required,
    /// The configuration may.
    Optional,
    /// The provider does.
    Computed,
    /// The configuration may; if it does not, the provider does.
    OptionalComputed,
}

/// What an attribute holds.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A value of a type.
    Plain(Type),
    /// Attributes with presences of their own. Its body has no blocks.
    Nested(Nesting, Body),
}

/// Whether a change of an attribute replaces the resource.
#[derive(Clone, Default)]
pub enum Replace {
    /// It is updated in place.
    #[default]
    Never,
    /// Each change does.
    Always,
    /// Each change that the configuration says does.
    IfConfigured,
    /// A change from the first to the second value does, if the function says so.
    If(Arc<ReplaceRule>),
}

/// From the value of the state and the planned one to whether the change replaces.
pub type ReplaceRule = dyn Fn(&Value, &Value) -> bool + Send + Sync;

/// How an attribute follows from its neighbours.
#[derive(Clone)]
pub struct Derived {
    pub(crate) sources: Vec<String>,
    pub(crate) from: Arc<dyn Fn(&Object) -> Value + Send + Sync>,
}

impl Attribute {
    /// The configuration must say it.
    pub fn required(ty: Type) -> Self {
        Self::of(Shape::Plain(ty), Presence::Required)
    }

    /// The configuration may say it.
    pub fn optional(ty: Type) -> Self {
        Self::of(Shape::Plain(ty), Presence::Optional)
    }

    /// The provider says it.
    pub fn computed(ty: Type) -> Self {
        Self::of(Shape::Plain(ty), Presence::Computed)
    }

    /// The configuration may say it; the provider does otherwise.
    pub fn optional_computed(ty: Type) -> Self {
        Self::of(Shape::Plain(ty), Presence::OptionalComputed)
    }

    /// Attributes within an attribute: `name = { … }`, `name = [{ … }]`.
    pub fn nested<N: Into<String>>(
        nesting: Nesting,
        presence: Presence,
        attributes: impl IntoIterator<Item = (N, Self)>,
    ) -> Self {
        let attributes = attributes.into_iter().map(|(name, inner)| (name.into(), inner)).collect();
        Self::of(Shape::Nested(nesting, Body { attributes, ..Body::default() }), presence)
    }

    /// An attribute of a shape and presence: for schemas made from tables.
    pub fn of(shape: Shape, presence: Presence) -> Self {
        Self {
            shape,
            presence,
            description: String::new(),
            deprecated: None,
            sensitive: false,
            write_only: false,
            default: None,
            keep: false,
            replace: Replace::Never,
            derived: None,
            validators: Vec::new(),
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

    /// The same, hidden by Terraform.
    #[must_use]
    pub fn sensitive(mut self) -> Self {
        self.sensitive = true;
        self
    }

    /// The same, never in plan or state: only `config` of a create or update has it.
    #[must_use]
    pub fn write_only(mut self) -> Self {
        self.write_only = true;
        self
    }

    /// The same, planned as `value` where the configuration leaves it out.
    #[must_use]
    pub fn default(mut self, value: impl IntoValue) -> Self {
        self.default = Some(value.into_value());
        self
    }

    /// The same, where an update keeps what the state has instead of showing "known after apply".
    /// For what the server never changes by itself: ids, times of creation. Within blocks, an element
    /// of a list is the one that was at its place before, and one of a set is the one that was
    /// configured alike.
    #[must_use]
    pub fn keep(mut self) -> Self {
        self.keep = true;
        self
    }

    /// The same, where a change replaces the resource.
    #[must_use]
    pub fn requires_replace(self) -> Self {
        self.replace(Replace::Always)
    }

    /// The same with a rule of replacement.
    ///
    /// Elements of a set have no counterpart in the state: anywhere within one, each change of the set
    /// is a change of the attribute, [`Replace::IfConfigured`] asks whether the set is configured, and
    /// [`Replace::If`] is given the two sets.
    #[must_use]
    pub fn replace(mut self, replace: Replace) -> Self {
        self.replace = replace;
        self
    }

    /// The same, computed at plan time from `sources` beside it, where the configuration leaves it
    /// out. `from` sees the planned neighbours; while a source is unknown, so is this.
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

    /// The same with a rule of its value.
    #[must_use]
    pub fn validate(mut self, validator: Validator) -> Self {
        self.validators.push(validator);
        self
    }

    /// The type of its values.
    pub fn ty(&self) -> Type {
        match &self.shape {
            Shape::Plain(ty) => ty.clone(),
            Shape::Nested(nesting, body) => nesting.around(body.ty()),
        }
    }

    /// Whether the provider may say the value. Terraform lets only such attributes have a default.
    pub fn is_computed(&self) -> bool {
        let by_provider = matches!(self.presence, Presence::Computed | Presence::OptionalComputed);
        by_provider || self.default.is_some()
    }

    /// Whether the configuration may say the value.
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
