package main

import "encoding/binary"

// Wire format of the ack protocol. A message is an id of 8 bytes, a payload size of 4 bytes and the
// payload. An ack is the id of a message and the number of earlier messages that are acknowledged
// with it.

const (
	headSize = 12
	// largest is the maximum payload size in bytes.
	largest = 16 << 20
)

// owed is the newest id and the number of messages that are received and not acknowledged.
type owed struct {
	newest uint64
	count  int64
}

func (o *owed) add(newer owed) {
	if newer.count > 0 {
		o.newest = newer.newest
		o.count += newer.count
	}
}

// acknowledge writes the ack, if any, and clears what is owed. It returns the number of messages
// acknowledged.
func (c *connection) acknowledge(o *owed) (int64, error) {
	count := o.count
	if count == 0 {
		return 0, nil
	}
	binary.LittleEndian.PutUint64(c.ack[:], o.newest)
	binary.LittleEndian.PutUint32(c.ack[8:], uint32(count-1))
	*o = owed{}
	if _, err := c.Write(c.ack[:]); err != nil {
		return 0, err
	}
	return count, nil
}

// skim finds the complete messages at the beginning of a block. It returns what is owed for them,
// their size, and the size of the next message as far as it is known, or 0 if that is too large.
func skim(block []byte) (found owed, used, needed int) {
	for {
		rest := block[used:]
		if len(rest) < headSize {
			return found, used, headSize
		}
		size := int(binary.LittleEndian.Uint32(rest[8:]))
		if size > largest {
			return found, used, 0
		}
		if len(rest) < headSize+size {
			return found, used, headSize + size
		}
		found.newest = binary.LittleEndian.Uint64(rest)
		found.count++
		used += headSize + size
	}
}

// buffer is a read buffer. The unparsed bytes are at its beginning.
type buffer struct {
	bytes  []byte
	filled int
}

func newBuffer(size int) *buffer { return &buffer{bytes: make([]byte, size)} }

// fill reads once, with room for a message of this size.
func (b *buffer) fill(from *connection, needed int) error {
	if needed > len(b.bytes) {
		b.bytes = append(b.bytes, make([]byte, needed-len(b.bytes))...)
	}
	read, err := from.Read(b.bytes[b.filled:])
	b.filled += read
	return err
}

func (b *buffer) content() []byte { return b.bytes[:b.filled] }

func (b *buffer) consume(used int) { b.filled = copy(b.bytes, b.bytes[used:b.filled]) }
