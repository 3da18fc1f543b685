package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// runInformer is client-go as every Go controller uses it: a shared informer on the ConfigMaps of a
// namespace that prints what it hears. The environment chooses between list+watch and a streamed list.
//
//	informer NAMESPACE NAME...    create objects of these names first, print until interrupted
func runInformer() int {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return failed(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return failed(err)
	}
	context, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	namespace := os.Args[1]
	for _, name := range os.Args[2:] {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"k": "v"}}
		if _, err := client.CoreV1().ConfigMaps(namespace).Create(context, made, metav1.CreateOptions{}); err != nil {
			return failed(err)
		}
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, time.Hour, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { say("added", obj) },
		UpdateFunc: func(_, obj any) { say("updated", obj) },
		DeleteFunc: func(obj any) { say("deleted", obj) },
	})
	if err != nil {
		return failed(err)
	}
	factory.Start(context.Done())
	if !cache.WaitForCacheSync(context.Done(), informer.HasSynced) {
		return 1
	}
	fmt.Println("synced", len(informer.GetStore().ListKeys()))
	<-context.Done()
	return 0
}

func say(what string, obj any) {
	if config, ok := obj.(*corev1.ConfigMap); ok {
		fmt.Println(what, config.Name, config.Data["k"])
	}
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}
