package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// TestBackupsOfRegionsThatBeginAlike: the names of a Region's kept snapshots begin with its name, so those of eu-backup look as if
// they were snapshots of eu. Their backups outlive a restart nevertheless, and can be restored.
func TestBackupsOfRegionsThatBeginAlike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, regions := kv.Checked(memkv.New()), []string{"eu", "eu-2", "eu-backup", "eu-restore", "eu-export"}
		w, arns := openWorld(t, store, nil, regions...), map[string]string{}
		for _, region := range regions {
			createTable(t, w[region], musicTable())
			putValue(t.Context(), t, w[region], "1", region)
			arns[region] = mustBackUp(t, w[region], "Music")
		}
		w.close(t)
		w = openWorld(t, store, nil, regions...)
		defer w.close(t)
		w.verify(t)
		for _, region := range regions {
			if err := restoreBackup(t.Context(), w[region], arns[region], "Restored"); err != nil {
				t.Fatalf("%s: %v", region, err)
			}
			<-time.After(time.Minute) // of the bubble's clock
			in := &api.GetItemInput{TableName: new("Restored"), Key: attr.Item{field("pk", "1")}}
			if out, err := w[region].GetItem(t.Context(), in); err != nil || out.Item == nil {
				t.Errorf("%s: the restored table has %+v (%v)", region, out, err)
			}
		}
	})
}
