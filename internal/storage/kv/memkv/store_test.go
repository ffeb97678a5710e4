package memkv_test

import (
	"testing"

	"github.com/monotable/monotable/internal/storage/kv"
	"github.com/monotable/monotable/internal/storage/kv/kvtest"
	"github.com/monotable/monotable/internal/storage/kv/memkv"
)

func TestContract(t *testing.T) {
	kvtest.Run(t, func(*testing.T) kv.Store { return memkv.New() })
}

func TestContractChecked(t *testing.T) {
	kvtest.Run(t, func(*testing.T) kv.Store { return kv.Checked(memkv.New()) })
}
