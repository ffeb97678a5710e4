package bucket

// Parts cuts what is written into parts of PartBytes and hands each of them to Put, the last one by Flush. No part is empty.
type Parts struct {
	Put func(number int, part []byte) error

	buffer []byte
	tag    Tag
}

// Write implements io.Writer.
func (p *Parts) Write(data []byte) (n int, err error) {
	for n = 0; n < len(data); {
		if p.buffer == nil {
			p.buffer = make([]byte, 0, PartBytes)
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

// Flush hands over the last part and returns the entity tag of all.
func (p *Parts) Flush() (etag string, err error) {
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
