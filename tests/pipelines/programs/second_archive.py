"""A model on a volume, converted and uploaded by our components: HOST, FOLDER of their files, MODEL."""

import base64
import sys
from pathlib import Path

import kfp
from kfp import components, dsl, kubernetes

host, folder, model = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
MOUNT = "/mnt/task-center"
converter, uploader = (
    components.load_component_from_file(str(folder / f"{name}.yaml")) for name in ("converter", "uploader")
)
files = {path.name: base64.b64encode(path.read_bytes()).decode() for path in model.iterdir()}


@dsl.container_component
def export(files: dict):
    program = (
        "import base64, json, pathlib, sys\n"
        f"place = pathlib.Path('{MOUNT}/inference')\n"
        "place.mkdir()\n"
        "for name, text in json.loads(sys.argv[1]).items():\n"
        "    (place / name).write_bytes(base64.b64decode(text))\n"
    )
    return dsl.ContainerSpec(image="paddlecloud/core", command=["python", "-c", program], args=[files])


@dsl.container_component
def look(url: str, names: dsl.OutputPath(str)):
    program = (
        "import io, pathlib, sys, tarfile, urllib.request\n"
        "content = urllib.request.urlopen(sys.argv[1], timeout=30).read()\n"
        "names = sorted(tarfile.open(fileobj=io.BytesIO(content)).getnames())\n"
        "pathlib.Path(sys.argv[2]).write_text(' '.join(names))\n"
    )
    return dsl.ContainerSpec(image="paddlecloud/core", command=["python", "-c", program], args=[url, names])


@dsl.pipeline(name="archive")
def archive(files: dict = files):
    volume = kubernetes.CreatePVC(
        pvc_name_suffix="-archive",
        access_modes=["ReadWriteMany"],
        size="1Gi",
        storage_class_name="task-center",
    )
    exported = export(files=files)
    converted = converter(model_name="weighted", mount_path=MOUNT).after(exported)
    uploaded = uploader(
        model_file=converted.outputs["model_file"], model_name=converted.outputs["model_name"]
    )
    look(url=uploaded.outputs["url"]).set_caching_options(False)
    for step in (exported, converted, uploaded):
        step.set_caching_options(False)
        kubernetes.mount_pvc(step, pvc_name=volume.outputs["name"], mount_path=MOUNT)
    kubernetes.use_secret_as_env(
        uploaded,
        secret_name="model-store",
        secret_key_to_env={"access-key": "MINIO_ACCESS_KEY", "secret-key": "MINIO_SECRET_KEY"},
    )


client = kfp.Client(host=host)
run = client.create_run_from_pipeline_func(archive, run_name="archive", enable_caching=False)
done = client.wait_for_run_completion(run.run_id, timeout=240, sleep_duration=1)
print("state", done.state)
print("error", done.error)
