// Only marks the root of the module: `go build -modfile=v1.34.mod` says which kubectl is built.
module paddlecloud/kubectl

go 1.23.0
