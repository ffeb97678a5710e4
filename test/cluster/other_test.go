//go:build !tikv

package cluster

var suiteFlags []string
