// The JuiceFS CSI driver as a process of a node: its own node service, which mounts by the client it is given,
// and the socket at which a kubelet finds it. Nothing is written outside of the folder it is given.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"os"
	"path/filepath"

	"github.com/juicedata/juicefs-csi-driver/pkg/config"
	"github.com/juicedata/juicefs-csi-driver/pkg/driver"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

func main() {
	node := flag.String("node", "", "name of the node")
	folder := flag.String("folder", "", "folder for sockets, mounts and links")
	registry := flag.String("registry", "", "folder in which the kubelet looks for drivers")
	client := flag.String("client", "", "the JuiceFS client")
	flag.Parse()

	config.ByProcess = true
	config.CeCliPath = *client
	config.CeMountPath = filepath.Join(*folder, "mount.juicefs")
	mounts := filepath.Join(*folder, "mounts")
	config.PodMountBase, config.TmpPodMountBase, config.MountBase = mounts, mounts, mounts
	must(os.MkdirAll(mounts, 0o755))
	must(os.Symlink(*client, config.CeMountPath))

	socket := filepath.Join(*folder, "csi.sock")
	made, err := driver.NewDriver("unix://"+socket, *node, false, "", 0, prometheus.NewRegistry())
	must(err)
	go func() { must(register(*registry, socket)) }()
	must(made.Run())
}

func register(folder, socket string) error {
	must(os.MkdirAll(folder, 0o755))
	listener, err := net.Listen("unix", filepath.Join(folder, config.DriverName+"-reg.sock"))
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	registration.RegisterRegistrationServer(server, found{socket})
	return server.Serve(listener)
}

type found struct{ socket string }

func (f found) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{
		Type: registration.CSIPlugin, Name: config.DriverName, Endpoint: f.socket, SupportedVersions: []string{"1.0.0"},
	}, nil
}

func (f found) NotifyRegistrationStatus(
	_ context.Context, status *registration.RegistrationStatus,
) (*registration.RegistrationStatusResponse, error) {
	log.Printf("registered: %v %s", status.PluginRegistered, status.Error)
	return &registration.RegistrationStatusResponse{}, nil
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
