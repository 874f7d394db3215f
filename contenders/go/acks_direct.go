package main

import (
	"bufio"
	"encoding/binary"
)

// Ack servers with one goroutine per connection: request-reply, sync-ack and best.

// Sizes of read buffers in bytes, unless a message is larger: blockUsual is that of purlin's servers
// of the same strategies, blockLarge that of best.
const (
	blockUsual = 64 << 10
	blockLarge = 256 << 10
)

// requestReply replies to each message with its id.
func requestReply(stream *connection) int64 {
	messages := bufio.NewReader(stream)
	received := int64(0)
	var id [8]byte
	for {
		head, err := messages.Peek(headSize)
		if err != nil {
			return received
		}
		copy(id[:], head)
		size := int(binary.BigEndian.Uint32(head[8:]))
		if size > largest {
			return received
		}
		if _, err := messages.Discard(headSize + size); err != nil {
			return received
		}
		if _, err := stream.Write(id[:]); err != nil {
			return received
		}
		received++
	}
}

// syncAck reads the available data and acknowledges it before the next read.
func syncAck(usual int) strategy {
	return func(stream *connection) int64 {
		blocks := newBuffer(usual)
		received := int64(0)
		for needed := headSize; needed > 0; {
			if blocks.fill(stream, needed) != nil {
				break
			}
			var found owed
			var used int
			found, used, needed = skim(blocks.content())
			blocks.consume(used)
			count, err := stream.acknowledge(&found)
			if err != nil {
				break
			}
			received += count
		}
		return received
	}
}
