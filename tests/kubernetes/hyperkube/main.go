// Hyperkube is all of Kubernetes the tests need in one static binary: a component is chosen by the name
// the program is called by (a symbolic link), else by its first argument.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	_ "time/tzdata"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlerrors "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// components maps each name to its main function; the int is the exit code.
var components = map[string]func() int{
	"etcd":                    runEtcd,
	"informer":                runInformer,
	"kubectl":                 runKubectl,
	"kube-apiserver":          func() int { return cli.Run(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": func() int { return cli.Run(controllers.NewControllerManagerCommand()) },
	"kube-scheduler":          func() int { return cli.Run(schedulerCommand()) },
	"kube-proxy":              func() int { return cli.Run(proxy.NewProxyCommand()) },
	"kubelet":                 func() int { return cli.Run(kubelet.NewKubeletCommand()) },
}

func main() {
	run, found := components[filepath.Base(os.Args[0])]
	if !found && len(os.Args) > 1 {
		if run, found = components[os.Args[1]]; found {
			os.Args = os.Args[1:]
		}
	}
	if !found {
		names := slices.Sorted(maps.Keys(components))
		fmt.Fprintf(os.Stderr, "usage: hyperkube COMPONENT [flags]\ncomponents: %s\n", strings.Join(names, ", "))
		os.Exit(2)
	}
	os.Exit(run())
}

func schedulerCommand() *cobra.Command { return scheduler.NewSchedulerCommand() }

func runEtcd() int {
	etcdmain.Main(os.Args)
	return 0
}

// runKubectl leaves the wording of errors to kubectl itself: tests read what users read.
func runKubectl() int {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlerrors.CheckErr(err)
	}
	return 0
}
