"""What kube-controller-manager, kube-scheduler and Knative do on a cluster, small enough for one machine."""
