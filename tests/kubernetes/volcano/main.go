// Volcano as the tests need it, in one static binary: its scheduler, or its controllers, chosen by the name
// the program is called by (a symbolic link), else by its first argument.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	leaderelection "k8s.io/component-base/config/options"
	"k8s.io/klog/v2"

	controllers "volcano.sh/volcano/cmd/controller-manager/app"
	controlleroptions "volcano.sh/volcano/cmd/controller-manager/app/options"
	scheduler "volcano.sh/volcano/cmd/scheduler/app"
	scheduleroptions "volcano.sh/volcano/cmd/scheduler/app/options"
	"volcano.sh/volcano/pkg/controllers/framework"
	_ "volcano.sh/volcano/pkg/controllers/podgroup"
	_ "volcano.sh/volcano/pkg/controllers/queue"
	_ "volcano.sh/volcano/pkg/scheduler/actions"
	_ "volcano.sh/volcano/pkg/scheduler/plugins"
	"volcano.sh/volcano/pkg/util"
)

var components = map[string]func() error{
	"vc-scheduler":          runScheduler,
	"vc-controller-manager": runControllers,
}

func main() {
	run, found := components[filepath.Base(os.Args[0])]
	if !found && len(os.Args) > 1 {
		if run, found = components[os.Args[1]]; found {
			os.Args = os.Args[1:]
		}
	}
	if !found {
		fmt.Fprintln(os.Stderr, "usage: volcano vc-scheduler|vc-controller-manager [flags]")
		os.Exit(2)
	}
	klog.InitFlags(nil)
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runScheduler() error {
	options := scheduleroptions.NewServerOption()
	options.AddFlags(pflag.CommandLine)
	util.LeaderElectionDefault(&options.LeaderElection)
	options.LeaderElection.ResourceName = util.GenerateComponentName(options.SchedulerNames)
	leaderelection.BindLeaderElectionFlags(&options.LeaderElection, pflag.CommandLine)
	// Its cache reads the options from a place of the package.
	options.RegisterOptions()
	cliflag.InitFlags()
	if err := options.CheckOptionOrDie(); err != nil {
		return err
	}
	return scheduler.Run(options)
}

func runControllers() error {
	var known []string
	framework.ForeachController(func(one framework.Controller) { known = append(known, one.Name()) })
	options := controlleroptions.NewServerOption()
	options.AddFlags(pflag.CommandLine, known)
	util.LeaderElectionDefault(&options.LeaderElection)
	options.LeaderElection.ResourceName = "vc-controller-manager"
	leaderelection.BindLeaderElectionFlags(&options.LeaderElection, pflag.CommandLine)
	cliflag.InitFlags()
	if err := options.CheckOptionOrDie(); err != nil {
		return err
	}
	return controllers.Run(options)
}
