// CoreDNS with the plugins that a cluster of one node uses, and no more: each costs time to compile.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
)

func main() {
	// The order in which a query passes them.
	dnsserver.Directives = []string{"errors", "kubernetes"}
	coremain.Run()
}
