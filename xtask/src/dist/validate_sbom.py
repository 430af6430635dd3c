# Validates an SBOM by the schema of CycloneDX. Arguments: the folder of the schemas, and the SBOM.
import json
import pathlib
import sys

from jsonschema import Draft7Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

BASE = "http://cyclonedx.org/schema/"
PARTS = ["spdx.SNAPSHOT.schema.json", "jsf-0.82.SNAPSHOT.schema.json"]

folder, sbom = (pathlib.Path(argument) for argument in sys.argv[1:])
schema = json.loads((folder / "bom-1.6.SNAPSHOT.schema.json").read_text())
parts = ((BASE + name, Resource(json.loads((folder / name).read_text()), DRAFT7)) for name in PARTS)
validator = Draft7Validator(schema, registry=Registry().with_resources(parts))
faults = [f"{fault.json_path}: {fault.message[:200]}" for fault in validator.iter_errors(json.loads(sbom.read_text()))]
print("\n".join(faults), file=sys.stderr)
sys.exit(bool(faults))
