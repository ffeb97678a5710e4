package control

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// pathRoom is the limit on the length of a socket's path.
const pathRoom = len(syscall.RawSockaddrUnix{}.Path)

// listen recreates the socket of a directory.
func listen(dir string) (net.Listener, error) {
	if err := removeSocket(dir); err != nil {
		return nil, err
	}
	var l *net.UnixListener
	err := withSocket(dir, func(path string) (err error) {
		if l, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}); err != nil {
			return err
		}
		l.SetUnlinkOnClose(false) // the path may be valid for this call only
		return os.Chmod(path, 0o600)
	})
	if err != nil && l != nil {
		return nil, errors.Join(err, l.Close(), removeSocket(dir))
	}
	return l, err
}

func removeSocket(dir string) error {
	err := os.Remove(filepath.Join(dir, SocketName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// withSocket calls use with a path of the socket that is short enough for the system and valid until use returns. If the
// directory's own path is too long, it uses a descriptor of the directory, for which only Linux has paths.
func withSocket(dir string, use func(path string) error) error {
	path := filepath.Join(dir, SocketName)
	if len(path) < pathRoom {
		return use(path)
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return use(fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), SocketName))
}
