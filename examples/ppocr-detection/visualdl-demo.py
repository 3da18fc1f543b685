import kfp
import kfp.dsl as dsl
from kfp import components

def create_volume_op():
    return dsl.VolumeOp(
        name="PPOCR Detection PVC",
        resource_name="ppocr-detection-pvc",
        storage_class="task-center",
        size="10Gi",
        modes=dsl.VOLUME_MODE_RWM
    ).set_display_name("create pvc and pv for PaddleJob"
    ).add_pod_annotation(name="pipelines.kubeflow.org/max_cache_staleness", value="P0D")

def create_visualdl_op(volume_op):
    create_visualdl = components.load_component_from_file("../../components/visualdl.yaml")
    visualdl_op = create_visualdl(
        name="ppocr-visualdl",
        namespace="kubeflow",
        pvc_name=volume_op.volume.persistent_volume_claim.claim_name,
        mount_path="/mnt/task-center/",
        logdir="/mnt/task-center/models/vdl/",
        model=f"/mnt/task-center/ppocr/server/__model__",
    )
    visualdl_op.set_display_name("deploy VisualDL")
    return visualdl_op

def create_training_op(volume_op):
    worker_replicas = 1
    create_training = components.load_component_from_file("../../components/training.yaml")
    return create_training(
        name="ppocr",
        dataset="icdar2015",
        project="PaddleOCR",
        worker_replicas=worker_replicas,
        train_label="train_icdar2015_label.txt",
        test_label="test_icdar2015_label.txt",
        config_path="configs/det/det_mv3_db.yml",
        config_changes="Global.epoch_num=2,Global.use_visualdl=True,Global.print_batch_step=1",
        pvc_name=volume_op.volume.persistent_volume_claim.claim_name,
        image="registry.baidubce.com/paddleflow-public/paddleocr:2.1.3-gpu-cuda10.2-cudnn7",
    ).set_display_name("model training")

@dsl.pipeline(
  name="ppocr-detection-demo",
  description="An example for using ppocr train .",
)
def ppocr_detection_demo():
    volume_op = create_volume_op()
    training_op = create_training_op(volume_op)
    training_op.after(volume_op)
    visualdl_op = create_visualdl_op(volume_op)
    visualdl_op.after(training_op)

if __name__ == "__main__":
    import kfp.compiler as compiler

    pipeline_file = "ppocr_visualdl_demo.yaml"
    compiler.Compiler().compile(ppocr_detection_demo, pipeline_file)
    client = kfp.Client(host="http://www.my-pipeline-ui.com:80")
    run = client.create_run_from_pipeline_package(
        pipeline_file,
        arguments={},
        run_name="paddle ocr visualdl demo",
        service_account="pipeline-runner"
    )
