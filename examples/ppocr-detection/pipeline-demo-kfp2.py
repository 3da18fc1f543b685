"""The workflow of pipeline-demo.py for kfp 2: from a data set to a served model, on one shared volume.

python pipeline-demo-kfp2.py http://127.0.0.1:PORT
"""

import sys

import kfp
from kfp import compiler, components, dsl, kubernetes

PACKAGE = "ppocr_detection_kfp2.yaml"


def component(name):
    """One of the files that `pdc pipeline components yaml` writes."""
    return components.load_component_from_file(f"./yaml/{name}.yaml")


@dsl.pipeline(name="ppocr-detection-kfp2", description="Text detection, from data to a served model.")
def ppocr_detection(epochs: int = 3):
    volume = kubernetes.CreatePVC(
        pvc_name_suffix="-ppocr-detection",
        access_modes=["ReadWriteMany"],
        size="10Gi",
        storage_class_name="task-center",
    ).set_display_name("create volume for pipeline")

    dataset = component("dataset")(
        name="icdar2015",
        partitions=1,
        source_secret="data-source",
        source_uri="bos://paddleflow-public.hkg.bcebos.com/icdar2015/",
    ).set_display_name("prepare sample data")

    training = component("training")(
        name="ppocr-kfp2",
        dataset=dataset.outputs["name"],
        project="PaddleOCR",
        worker_replicas=1,
        gpu_per_node=1,
        use_visualdl=True,
        train_label="train_icdar2015_label.txt",
        test_label="test_icdar2015_label.txt",
        config_path="configs/det/det_mv3_db.yml",
        config_changes=f"Global.epoch_num={epochs}",
        pvc_name=volume.outputs["name"],
        image="registry.baidubce.com/paddleflow-public/paddleocr:2.1.3-gpu-cuda10.2-cudnn7",
    ).set_display_name("model training")

    modelhub = component("modelhub")(
        model_name="ppocr-kfp2",
        pvc_name=volume.outputs["name"],
        path=training.outputs["model_path"],
        job=training.outputs["name"],
        dataset=dataset.outputs["name"],
        dataset_revision=dataset.outputs["revision"],
        metrics=training.outputs["metrics"],
    ).set_display_name("upload model file")

    serving = component("serving")(
        name="ppocr-kfp2", model_name=modelhub.outputs["model"], model_version=modelhub.outputs["version"]
    ).set_display_name("model serving")

    for step in (dataset, training, modelhub, serving):
        step.set_caching_options(False)


if __name__ == "__main__":
    compiler.Compiler().compile(ppocr_detection, PACKAGE)
    client = kfp.Client(host=sys.argv[1])
    run = client.create_run_from_pipeline_package(PACKAGE, arguments={"epochs": 3})
    print("ended as", client.wait_for_run_completion(run.run_id, timeout=200, sleep_duration=1).state)
