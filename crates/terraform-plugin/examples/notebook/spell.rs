//! The function: the letters of words.

use terraform_plugin::function::{Arguments, Function, FunctionError, Parameter, Signature};
use terraform_plugin::{IntoValue, Type, Value};

pub(crate) struct Spell;

impl Function for Spell {
    fn signature(&self) -> Signature {
        Signature::new("Spells words.", Type::list(Type::String))
            .parameter("word", Type::String, "The first word.")
            .variadic(Parameter::new("more", Type::String, "Further words."))
    }

    fn call(&self, arguments: &Arguments) -> Result<Value, FunctionError> {
        let mut letters = Vec::new();
        for at in 0..arguments.values().len() {
            let word: String = arguments.get(at)?;
            if word.is_empty() {
                return Err(FunctionError::at(at, "a word must have letters"));
            }
            letters.extend(word.chars().map(String::from));
        }
        Ok(letters.into_value())
    }
}
