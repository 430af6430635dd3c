//! Provider functions: `provider::service::regions("fly")`, `provider::service::periodicity_seconds("5m")`.

use rules::{Periodicity, Region, RegionGroup};
use terraform_plugin::function::{Arguments, Function, FunctionError, Signature};
use terraform_plugin::{IntoValue as _, Type, Value};

/// Groups whose regions are the same in all workspaces.
const GROUPS: [&str; 3] =
    [RegionGroup::Fly.as_str(), RegionGroup::Koyeb.as_str(), RegionGroup::Railway.as_str()];

/// The regions of a group.
#[derive(Debug)]
pub struct Regions;

/// A periodicity in seconds.
#[derive(Debug)]
pub struct PeriodicitySeconds;

impl Function for Regions {
    fn signature(&self) -> Signature {
        let groups = GROUPS.join("`, `");
        Signature::new("The regions of a group.", Type::list(Type::String))
            .describe(format!(
                "The identifiers of the regions of a group, in the order of their names, for the \
                 `regions` of a monitor. The groups are `{groups}`."
            ))
            .parameter("group", Type::String, &format!("One of `{groups}`."))
    }

    fn call(&self, arguments: &Arguments) -> Result<Value, FunctionError> {
        let group: String = arguments.get(0)?;
        if !GROUPS.contains(&group.as_str()) {
            let known = GROUPS.join(", ");
            let why = format!("unknown region group `{group}`; expected one of {known}.");
            return Err(FunctionError::at(0, why));
        }
        let regions = Region::PUBLIC.iter().filter(|region| region.group().as_str() == group);
        Ok(Value::list(regions.map(|region| region.as_str())))
    }
}

impl Function for PeriodicitySeconds {
    fn signature(&self) -> Signature {
        let words = Periodicity::WORDS.join("`, `");
        Signature::new("A periodicity in seconds.", Type::Number)
            .describe(
                "The time from one check of a monitor to the next in the same region, in seconds.",
            )
            .parameter("periodicity", Type::String, &format!("One of `{words}`."))
    }

    fn call(&self, arguments: &Arguments) -> Result<Value, FunctionError> {
        let word: String = arguments.get(0)?;
        let periodicity = Periodicity::parse(&word).map_err(|error| invalid_argument(&error))?;
        Ok(periodicity.period().as_secs().into_value())
    }
}

fn invalid_argument(error: &rules::UnknownVariant) -> FunctionError {
    FunctionError::at(0, format!("{error}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_returns_its_regions() {
        // spec: §8.3
        let koyeb = Regions.call(&Arguments::from_values(["koyeb"])).unwrap();
        assert_eq!(koyeb.elements().len(), 6);
        assert_eq!(koyeb.elements()[0].as_str(), Some("koyeb-fra"));
        let error = Regions.call(&Arguments::from_values(["mars"])).unwrap_err();
        insta::assert_snapshot!(error.text, @"unknown region group `mars`; expected one of fly, koyeb, railway.");
    }

    #[test]
    fn periodicity_returns_its_seconds() {
        // spec: §8.2
        for (word, seconds) in [("30s", 30), ("1m", 60), ("5m", 300), ("1h", 3_600)] {
            let value = PeriodicitySeconds.call(&Arguments::from_values([word])).unwrap();
            assert_eq!(value, seconds.into_value());
        }
        assert_eq!(
            PeriodicitySeconds.call(&Arguments::from_values(["7s"])).unwrap_err().argument,
            Some(0)
        );
    }
}
