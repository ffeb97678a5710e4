package lsp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	maxHeader  = 4 << 10
	maxMessage = 64 << 20
)

// copyMessages copies messages up to the end of in, and fails at one that is too large: the channel behind it allocates the
// size in the header before the data arrives. It omits Content-Type: the protocol only has UTF-8, under several spellings of
// which the channel accepts one.
func copyMessages(out io.Writer, in io.Reader) error {
	from := bufio.NewReaderSize(in, maxHeader)
	for length := int64(0); ; {
		line, err := from.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("a header line has more than %d bytes", maxHeader)
		}
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		if !strings.EqualFold(name, "content-type") {
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		switch {
		case strings.EqualFold(name, "content-length"):
			if length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil {
				continue // the channel reports it
			}
			if length > maxMessage {
				return fmt.Errorf("a message has %d bytes, more than the maximum of %d", length, maxMessage)
			}
		case name == "":
			if _, err := io.CopyN(out, from, length); err != nil {
				return err
			}
			length = 0
		}
	}
}
