"""The API of Kubeflow Pipelines, both generations, as a face over the objects of the cluster."""
