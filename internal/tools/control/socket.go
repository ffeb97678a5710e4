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

// pathRoom is the length that the path of a socket must stay below.
const pathRoom = len(syscall.RawSockaddrUnix{}.Path)

// listen makes the socket of a directory anew.
func listen(dir string) (net.Listener, error) {
	if err := removeSocket(dir); err != nil {
		return nil, err
	}
	var l *net.UnixListener
	err := withSocket(dir, func(path string) (err error) {
		if l, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}); err != nil {
			return err
		}
		l.SetUnlinkOnClose(false) // the path may be good for this call only
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

// withSocket calls use with a path of the socket that is short enough for the system, and good until use
// returns. Where the directory's own name is too long it goes through a descriptor of the directory, which
// only Linux has paths for.
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
