package identity

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// TestVerify: a directory as it is made is found right, and every way in which it can be wrong is found.
func TestVerify(t *testing.T) {
	const allow = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"dynamodb:*","Resource":"*"}]}`
	const trust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"}]}`
	master := bytes.Repeat([]byte{3}, 32)
	filled := func() kv.Store {
		store := memkv.New()
		d, err := Open(t.Context(), Options{Store: store, Account: "000000000000", MasterKey: master})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []Request{
			{Action: "policy create", Name: "all", Document: allow},
			{Action: "user create", Name: "ana", Policies: []string{"all"}},
			{Action: "user create", Name: "bob"},
			{Action: "key create", User: "ana"},
			{Action: "key create", User: "bob"},
			{Action: "key create"},
			{Action: "role create", Name: "loader", Trust: trust, Policies: []string{"all"}, Boundary: "all"},
		} {
			if _, err := d.Manage(t.Context(), &r); err != nil {
				t.Fatal(r.Action, err)
			}
		}
		return store
	}
	found := func(store kv.Store, master []byte) (count int64, findings []string) {
		snapshot, err := store.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer snapshot.Close()
		count, err = Verify(t.Context(), snapshot, master, func(key []byte, what string) {
			findings = append(findings, keyenc.Format(key)+": "+what)
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(findings)
		return count, findings
	}
	for _, key := range [][]byte{nil, master} {
		if count, findings := found(filled(), key); count != 6 || findings != nil {
			t.Errorf("%d records, %q", count, findings)
		}
	}

	for name, c := range map[string]struct {
		kind   byte
		record string
		change func(map[string]any) // nil: the record is removed
		want   []string             // beginnings
	}{
		"no policy": {'p', "all", nil, []string{
			`identity/r/"loader": there is no policy all`, `identity/r/"loader": there is no policy all`, `identity/u/"ana": there is no policy all`,
		}},
		"a policy that cannot be parsed": {'p', "all", func(m map[string]any) { m["document"] = "{" }, []string{`identity/p/"all": the policy cannot be parsed`}},
		"another trust":                  {'r', "loader", func(m map[string]any) { m["trust"] = allow }, []string{`identity/r/"loader": the trust policy cannot be parsed`}},
		"another name":                   {'u', "bob", func(m map[string]any) { m["name"] = "bill" }, []string{`identity/u/"bob": the record has the name "bill"`}},
		"another format":                 {'u', "bob", func(m map[string]any) { m["format"] = 7 }, []string{`identity/u/"bob": the record cannot be read: it has format 7`}},
		"no id":                          {'r', "loader", func(m map[string]any) { m["id"] = "" }, []string{`identity/r/"loader": the id "" belongs to another record`}},
		"a secret of another key": {'u', "bob", func(m map[string]any) {
			m["keys"].([]any)[0].(map[string]any)["id"] = "AKIAOTHER"
		}, []string{`identity/u/"bob": the secret of access key AKIAOTHER cannot be decrypted`}},
		"a key twice": {'u', "bob", func(m map[string]any) {
			keys := m["keys"].([]any)
			m["keys"] = append(keys, keys[0], keys[0])
		}, []string{`identity/u/"bob": the access key AKIA`, `identity/u/"bob": the access key AKIA`, `identity/u/"bob": there are 3 access keys`}},
		"no data key":        {'d', "", nil, []string{`identity/a/"": the secret of access key`, `identity/u/"ana": the secret of access key`, `identity/u/"bob": the secret of access key`}},
		"a damaged data key": {'d', "", func(m map[string]any) { m["key"] = "AAAA" }, []string{`identity/d/"": the data key cannot be decrypted`}},
	} {
		t.Run(name, func(t *testing.T) {
			store := filled()
			key := keyenc.Identity(c.kind, c.record)
			err := store.Update(t.Context(), kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error {
				if c.change == nil {
					txn.Delete(key)
					return nil
				}
				data, err := txn.Get(key)
				if err != nil {
					return err
				}
				var record map[string]any
				if err := json.Unmarshal(data, &record); err != nil {
					return err
				}
				c.change(record)
				if data, err = json.Marshal(record); err == nil {
					txn.Set(key, data)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			_, findings := found(store, master)
			for i := range findings {
				if i < len(c.want) && strings.HasPrefix(findings[i], c.want[i]) {
					findings[i] = c.want[i]
				}
			}
			if diff := cmp.Diff(c.want, findings); diff != "" {
				t.Error(diff)
			}
		})
	}

	store := filled()
	stray := keyenc.Identity('z', "what")
	err := store.Update(t.Context(), kv.Intent{Write: [][]byte{stray}}, func(txn kv.Txn) error {
		txn.Set(stray, []byte("{}"))
		return nil
	})
	if _, findings := found(store, master); err != nil || len(findings) != 1 || !strings.Contains(findings[0], "belongs to a newer release") {
		t.Errorf("%v, %q", err, findings)
	}
}
