"""The files by which programs written with kfp load our components; pure.

    components.load_component_from_file("./yaml/dataset.yaml")

One file a component, made from what the component says of itself: the same inputs, defaults and outputs.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from .component import IMAGE, Component, flag

Body = dict[str, Any]
WORDS = {"pvc": "PVC", "gpu": "GPU", "ps": "PS", "visualdl": "VisualDL", "uri": "Uri", "csi": "CSI"}


def component_file(component: Component, image: str = IMAGE) -> str:
    body: Body = {
        "name": title(component.name),
        "description": component.help,
        "inputs": [declared(component, name) for name in component.all_inputs()],
        "outputs": [{"name": title(name), "type": "String"} for name in component.outputs],
        "implementation": {
            "container": {
                "image": image,
                "command": ["python", "-m", component.module],
                "args": [
                    *(argument(component, name) for name in component.all_inputs()),
                    *(part for name in component.outputs for part in written(name)),
                ],
            }
        },
    }
    arguments: list[Any] = []
    for part in body["implementation"]["container"]["args"]:
        arguments += part if isinstance(part, list) else [part]
    body["implementation"]["container"]["args"] = arguments
    return yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=110)


def declared(component: Component, name: str) -> Body:
    given: Body = {"name": title(name), "type": component.types.get(name, "String")}
    if name in component.required:
        return given
    default = component.inputs[name]
    return {**given, "default": default} if default else {**given, "optional": True}


def argument(component: Component, name: str) -> Any:
    """A flag and its value; of an input without a default only if it is given."""
    pair = [flag(name), {"inputValue": title(name)}]
    if name in component.required or component.inputs[name]:
        return pair
    return {"if": {"cond": {"isPresent": title(name)}, "then": pair}}


def written(name: str) -> list[Any]:
    return ["--write", name, {"outputPath": title(name)}]


def title(name: str) -> str:
    """`pvc_name` as kfp's own files spell it; its Python name is again `pvc_name`."""
    return " ".join(WORDS.get(word, word.capitalize()) for word in re.split(r"[_-]", name))
