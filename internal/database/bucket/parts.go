package bucket

import "sync"

// partBuffers pools the memory of parts: a transfer writes one large object after the other, and new buffers for each would be a
// third of its memory until they are collected.
var partBuffers = sync.Pool{New: func() any { return new([PartBytes]byte) }}

// Parts divides what is written into parts of PartBytes and passes each to Put, the last one in Flush. No part is empty.
type Parts struct {
	Put func(number int, part []byte) error

	buffer []byte // of memory
	memory *[PartBytes]byte
	tag    Tag
}

// Write implements io.Writer.
func (p *Parts) Write(data []byte) (n int, err error) {
	for n = 0; n < len(data); {
		if p.memory == nil {
			p.memory, _ = partBuffers.Get().(*[PartBytes]byte)
			p.buffer = p.memory[:0]
		}
		taken := min(len(data)-n, PartBytes-len(p.buffer))
		p.buffer = append(p.buffer, data[n:n+taken]...)
		n += taken
		if len(p.buffer) == PartBytes {
			if err := p.put(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// Flush passes on the last part and returns the entity tag of the object. Nothing may be written after it.
func (p *Parts) Flush() (etag string, err error) {
	defer p.free()
	if len(p.buffer) > 0 {
		if err := p.put(); err != nil {
			return "", err
		}
	}
	return p.tag.String(), nil
}

func (p *Parts) put() error {
	p.tag.Add(p.buffer)
	err := p.Put(p.tag.parts, p.buffer)
	p.buffer = p.buffer[:0]
	return err
}

func (p *Parts) free() {
	if p.memory != nil {
		partBuffers.Put(p.memory)
		p.memory, p.buffer = nil, nil
	}
}
