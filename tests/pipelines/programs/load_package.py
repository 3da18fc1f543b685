"""Loads a package with kfp itself, which takes it for one of its own or says why not; prints its inputs."""

import json
import sys

from kfp import components

loaded = components.load_component_from_file(sys.argv[1])
inputs = {name: [spec.type, spec.default] for name, spec in loaded.component_spec.inputs.items()}
print(json.dumps({"name": loaded.name, "inputs": inputs}))
