"""What a client of either generation is told of packages that cannot be run: HOST, FOLDER of packages."""

import copy
import sys
from pathlib import Path

import kfp
import yaml

host, folder = sys.argv[1], Path(sys.argv[2])
client = kfp.Client(host=host)
first = kfp.__version__.startswith("1.")
good = yaml.safe_load((folder / ("first-chain.yaml" if first else "second-chain.yaml")).read_text())


def circle():
    body = copy.deepcopy(good)
    if first:
        [dag] = [t["dag"] for t in body["spec"]["templates"] if "dag" in t]
        names = [task["name"] for task in dag["tasks"]]
        dag["tasks"][0]["dependencies"] = [names[1]]
        dag["tasks"][1]["dependencies"] = [names[0]]
    else:
        body["root"]["dag"]["tasks"]["add"]["dependentTasks"] = ["add-2"]
    return body


def newer():
    body = copy.deepcopy(good)
    if first:
        body["apiVersion"] = "argoproj.io/v9"
    else:
        body["schemaVersion"], body["sdkVersion"] = "3.0.0", "kfp-9.1"
    return body


tries = {
    "circle": (yaml.safe_dump(circle()), {}),
    "newer": (yaml.safe_dump(newer()), {}),
    "malformed": ("a: [", {}),
    "nothing": ("- 1", {}),
    "unknown": (yaml.safe_dump(good), {"nobody": 1}),
    "type": (yaml.safe_dump(good), {"a": "many"}),
    "missing": (None, {}),
}
for name, (text, arguments) in tries.items():
    file = Path(f"{name}.yaml")
    if text is not None:
        file.write_text(text)
    try:
        client.create_run_from_pipeline_package(str(file), arguments=arguments, run_name=name)
    except Exception as error:
        print(name, type(error).__name__, " ".join(str(error).split())[-600:])
    else:
        print(name, "was taken")
    if name in ("unknown", "type"):
        continue  # a package of its own is right
    try:
        client.upload_pipeline(str(file), pipeline_name=f"{name}-kept")
    except Exception as error:
        print(f"{name}-upload", type(error).__name__, " ".join(str(error).split())[-600:])
    else:
        print(f"{name}-upload", "was taken")
