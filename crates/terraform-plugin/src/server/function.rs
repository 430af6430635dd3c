//! Provider functions: checks their arguments and calls them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::response::message;
use super::wire;
use crate::function::{Arguments, Function, FunctionError, Signature};
use crate::proto::tfplugin6 as proto;
use crate::value::{Type, Value};

/// A function with its signature.
pub(super) struct FunctionEntry {
    function: Box<dyn Function>,
    pub(super) signature: Signature,
}

impl FunctionEntry {
    pub(super) fn new(function: Box<dyn Function>) -> Self {
        Self { signature: function.signature(), function }
    }

    pub(super) fn call(
        &self,
        request: &proto::call_function::Request,
    ) -> proto::call_function::Response {
        match self.result(request) {
            Ok(result) => proto::call_function::Response { result: Some(result), error: None },
            Err(error) => failed(error),
        }
    }

    fn result(
        &self,
        request: &proto::call_function::Request,
    ) -> Result<proto::DynamicValue, FunctionError> {
        let given = request.arguments.iter().enumerate();
        let arguments = given.map(|(at, value)| {
            let ty =
                self.parameter(at).ok_or_else(|| FunctionError::at(at, "unexpected argument"))?;
            wire::value("argument", Some(value), ty).map_err(|found| conversion_error(at, &found))
        });
        let arguments = Arguments(arguments.collect::<Result<Vec<Value>, _>>()?);
        let called = catch_unwind(AssertUnwindSafe(|| self.function.call(&arguments)));
        let value = called.unwrap_or_else(|payload| {
            let what = message(payload.as_ref());
            Err(FunctionError::new(format!("the function panicked: {what}")))
        })?;
        let value = crate::schema::fit(&self.signature.returns, value);
        let value = value.map_err(|unfit| FunctionError::new(unfit.to_string()))?;
        wire::dynamic_value(&value, &self.signature.returns)
            .map_err(|found| FunctionError { argument: None, ..conversion_error(0, &found) })
    }

    fn parameter(&self, at: usize) -> Option<&Type> {
        let parameter = self.signature.parameters.get(at).or(self.signature.variadic.as_ref());
        parameter.map(|parameter| &parameter.ty)
    }
}

/// Creates a response with an error.
pub(super) fn failed(error: FunctionError) -> proto::call_function::Response {
    let function_argument = error.argument.map(|at| at as i64);
    let error = proto::FunctionError { text: error.text, function_argument };
    proto::call_function::Response { result: None, error: Some(error) }
}

fn conversion_error(argument: usize, found: &crate::Diagnostics) -> FunctionError {
    let details: Vec<&str> = found.iter().map(|it| it.detail.as_str()).collect();
    FunctionError::at(argument, details.join("; "))
}
