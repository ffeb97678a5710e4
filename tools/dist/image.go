package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the user id of the containers, also used by the manifests in deploy/.
const user = 65532

// localHome is the working directory of amazon/dynamodb-local, to which paths such as ./data are relative.
const localHome = "/home/dynamodblocal"

// image writes the container images as one OCI layout in a tar archive, which skopeo, crane, podman and `docker load` read. There are two
// images for amd64 and arm64 with the same layers:
//
//	VERSION                 starts monotable serve
//	VERSION-dynamodb-local  starts like amazon/dynamodb-local
//
// They have no base image, only programs, certificates of public authorities, and the few files that define the user.
func (r *release) image() error {
	server, local := v1.ImageIndex(empty.Index), v1.ImageIndex(empty.Index)
	server, local = mutate.IndexMediaType(server, types.OCIImageIndex), mutate.IndexMediaType(local, types.OCIImageIndex)
	found := false
	for _, arch := range []string{"amd64", "arm64"} {
		t := target{"linux", arch}
		if !r.has(t) {
			continue
		}
		found = true
		layers, err := r.layers(t)
		if err != nil {
			return err
		}
		for _, kind := range []struct {
			index  *v1.ImageIndex
			config v1.Config
		}{{&server, r.serverConfig()}, {&local, r.localConfig()}} {
			img, err := r.buildImage(t, layers, kind.config)
			if err != nil {
				return err
			}
			*kind.index = mutate.AppendManifests(*kind.index, mutate.IndexAddendum{
				Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: t.os, Architecture: t.arch}},
			})
		}
	}
	if !found {
		return errors.New("the image needs a target linux_amd64 or linux_arm64")
	}
	dir := r.built("image")
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	for _, kind := range []struct {
		index v1.ImageIndex
		name  string
	}{{server, r.version}, {local, r.version + "-dynamodb-local"}} {
		if err := path.AppendIndex(kind.index, layout.WithAnnotations(map[string]string{
			"org.opencontainers.image.ref.name": kind.name, "io.containerd.image.name": "ghcr.io/monotable/monotable:" + kind.name,
		})); err != nil {
			return err
		}
	}
	return r.writeLayoutArchive(dir, r.path(fmt.Sprintf("monotable_%s_image.tar", r.version)))
}

func (r *release) baseConfig() v1.Config {
	return v1.Config{
		User: fmt.Sprintf("%d:%d", user, user), WorkingDir: "/data", Volumes: map[string]struct{}{"/data": {}},
		ExposedPorts: map[string]struct{}{"8000/tcp": {}, "8080/tcp": {}},
		Env:          []string{"PATH=/usr/local/bin:/usr/bin:/bin", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt", "HOME=" + localHome},
		StopSignal:   "SIGTERM",
		Healthcheck:  &v1.HealthConfig{Test: []string{"CMD", "monotable", "health"}, Interval: 10 * time.Second, Timeout: 5 * time.Second, StartPeriod: 30 * time.Second, Retries: 3},
		Labels: map[string]string{
			"org.opencontainers.image.title": "monotable", "org.opencontainers.image.version": r.version, "org.opencontainers.image.revision": r.commit,
			"org.opencontainers.image.source": "https://" + module, "org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
}

// serverConfig listens on all addresses, so requests must be signed. The console and metrics are on port 8080, if enabled.
func (r *release) serverConfig() v1.Config {
	c := r.baseConfig()
	c.Entrypoint, c.Cmd = []string{"/usr/local/bin/monotable"}, []string{"serve"}
	c.Env = append(c.Env, "MONOTABLE_ADDR=:8000", "MONOTABLE_DATA=/data", "MONOTABLE_METRICS_ADDR=:8080")
	return c
}

// localConfig has the entry point, command and working directory of amazon/dynamodb-local.
func (r *release) localConfig() v1.Config {
	c := r.baseConfig()
	c.Entrypoint, c.Cmd, c.WorkingDir = []string{"java"}, []string{"-jar", "DynamoDBLocal.jar", "-inMemory"}, localHome
	return c
}

func (r *release) buildImage(t target, layers []v1.Layer, config v1.Config) (v1.Image, error) {
	img := mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1)
	img, err := mutate.AppendLayers(img, layers...)
	if err != nil {
		return nil, err
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created, file.Config = t.os, t.arch, v1.Time{Time: r.time}, config
	return mutate.ConfigFile(img, file)
}

// layers returns one layer of files that are the same in every release, and one with the program.
func (r *release) layers(t target) ([]v1.Layer, error) {
	shell := r.built(t.String(), "sh")
	if err := r.compile(t, filepath.Join(r.root, "tools", "dist"), "./sh", shell, "-ldflags=-s -w -buildid="); err != nil {
		return nil, err
	}
	shellData, err := os.ReadFile(shell)
	if err != nil {
		return nil, err
	}
	program, err := os.ReadFile(r.program(t))
	if err != nil {
		return nil, err
	}
	dir := func(owner int, mode int64) tar.Header {
		return tar.Header{Typeflag: tar.TypeDir, Mode: mode, Uid: owner, Gid: owner}
	}
	link := func(to string) tar.Header { return tar.Header{Typeflag: tar.TypeSymlink, Mode: 0o777, Linkname: to} }
	text := func(s string) layerFile { return layerFile{tar.Header{Typeflag: tar.TypeReg, Mode: 0o644}, []byte(s)} }
	base, err := r.layer(map[string]layerFile{
		"bin/": {dir(0, 0o755), nil}, "etc/": {dir(0, 0o755), nil}, "etc/ssl/": {dir(0, 0o755), nil}, "etc/ssl/certs/": {dir(0, 0o755), nil},
		"usr/": {dir(0, 0o755), nil}, "usr/bin/": {dir(0, 0o755), nil}, "usr/local/": {dir(0, 0o755), nil}, "usr/local/bin/": {dir(0, 0o755), nil},
		"home/": {dir(0, 0o755), nil}, strings.TrimPrefix(localHome, "/") + "/": {dir(user, 0o755), nil},
		"data/": {dir(user, 0o755), nil}, "tmp/": {dir(0, 0o1777), nil}, "proc/": {dir(0, 0o755), nil}, "dev/": {dir(0, 0o755), nil},
		"etc/passwd":                        text(fmt.Sprintf("root:x:0:0:root:/root:/bin/sh\nmonotable:x:%d:%d::%s:/bin/sh\n", user, user, localHome)),
		"etc/group":                         text(fmt.Sprintf("root:x:0:\nmonotable:x:%d:\n", user)),
		"etc/nsswitch.conf":                 text("hosts: files dns\n"),
		"etc/ssl/certs/ca-certificates.crt": text(authorities()),
		"bin/sh":                            {tar.Header{Typeflag: tar.TypeReg, Mode: 0o755}, shellData},
		"bin/bash":                          {link("sh"), nil},
		"usr/bin/java":                      {link("/usr/local/bin/monotable"), nil},
	})
	if err != nil {
		return nil, err
	}
	top, err := r.layer(map[string]layerFile{"usr/local/bin/monotable": {tar.Header{Typeflag: tar.TypeReg, Mode: 0o755}, program}})
	return []v1.Layer{base, top}, err
}

// layerFile is an entry of a layer.
type layerFile struct {
	header tar.Header
	data   []byte
}

func (r *release) layer(files map[string]layerFile) (v1.Layer, error) {
	var buffer bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&buffer, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := files[name]
		file.header.Name, file.header.Size, file.header.ModTime = name, int64(len(file.data)), r.time
		if err := archive.WriteHeader(&file.header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(file.data); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		return nil, err
	}
	data := buffer.Bytes()
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }, tarball.WithMediaType(types.OCILayer))
}

// authorities returns the certificates that Mozilla trusts without further conditions, as maintained by the Go project.
func authorities() string {
	var b strings.Builder
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // never fails in memory
		}
	}
	return b.String()
}

// writeLayoutArchive writes a directory as a tar archive.
func (r *release) writeLayoutArchive(dir, file string) error {
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: filepath.ToSlash(name) + "/", Mode: 0o755, ModTime: r.time})
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(name), Mode: 0o644, Size: int64(len(data)), ModTime: r.time}); err != nil {
			return err
		}
		_, err = archive.Write(data)
		return err
	})
	if err = errors.Join(err, archive.Close()); err != nil {
		return err
	}
	return os.WriteFile(file, buffer.Bytes(), 0o644)
}
