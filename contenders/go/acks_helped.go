package main

import (
	"encoding/binary"
	"io"
	"sync"
	"time"
)

// Ack servers with several goroutines per connection: throttle, head-rest, async-ack, and best with
// each message handled.

// tick is the period of the acks of throttle and head-rest, and the silence after which async-ack
// acknowledges.
const tick = 5 * time.Millisecond

// collect is a request to the collector: a message, or, if take is set, to return what is owed.
type collect struct {
	id      uint64
	payload []byte
	done    chan<- struct{}
	take    chan<- owed
}

// throttle reads exactly a header and then exactly its payload.
func throttle(stream *connection) int64 {
	return collected(stream, func(handOver func(uint64, []byte)) {
		var head [headSize]byte
		var payload []byte
		for {
			if _, err := io.ReadFull(stream, head[:]); err != nil {
				return
			}
			size := int(binary.LittleEndian.Uint32(head[8:]))
			if size > largest {
				return
			}
			if size > cap(payload) {
				payload = make([]byte, size)
			}
			payload = payload[:size]
			if _, err := io.ReadFull(stream, payload); err != nil {
				return
			}
			handOver(binary.LittleEndian.Uint64(head[:]), payload)
		}
	})
}

// headRest reads the available data and splits it into messages.
func headRest(stream *connection) int64 {
	return collected(stream, func(handOver func(uint64, []byte)) {
		blocks := newBuffer(blockUsual)
		for needed := headSize; needed > 0; {
			if blocks.fill(stream, needed) != nil {
				return
			}
			used := 0
			var size int
			for {
				rest := blocks.content()[used:]
				if size, needed = first(rest); size == 0 {
					break
				}
				handOver(binary.LittleEndian.Uint64(rest), rest[headSize:size])
				used += size
			}
			blocks.consume(used)
		}
	})
}

// first returns the size of the message at the beginning of a block, or 0 if it is not complete;
// its size is then needed as far as it is known, or 0 if it is too large.
func first(block []byte) (size, needed int) {
	if len(block) < headSize {
		return 0, headSize
	}
	size = headSize + int(binary.LittleEndian.Uint32(block[8:]))
	switch {
	case size > headSize+largest:
		return 0, 0
	case len(block) < size:
		return 0, size
	}
	return size, size
}

// collected passes each message that read finds to a collector by a call; a ticker acknowledges.
func collected(stream *connection, read func(handOver func(uint64, []byte))) int64 {
	// Unbuffered: both senders wait for a reply anyway.
	collector, done := make(chan collect), make(chan struct{}, 1)
	ended, counted := make(chan struct{}), make(chan int64)
	go collectAll(collector)
	go tickAcks(stream, collector, ended, counted)
	read(func(id uint64, payload []byte) {
		collector <- collect{id: id, payload: payload, done: done}
		<-done
	})
	close(ended)
	received := <-counted
	close(collector)
	return received
}

// collectAll accepts messages, and keeps the pending ack.
func collectAll(requests <-chan collect) {
	var pending owed
	for asked := range requests {
		if asked.take != nil {
			asked.take <- pending
			pending = owed{}
		} else {
			pending.add(owed{asked.id, 1})
			asked.done <- struct{}{}
		}
	}
}

// tickAcks acknowledges what the collector has every 5 ms, and once more when the reader has ended.
// It closes the connection of a client that does not read its acks.
func tickAcks(stream *connection, collector chan<- collect, ended <-chan struct{}, counted chan<- int64) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	taken := make(chan owed, 1)
	received := int64(0)
	for last := false; !last; {
		select {
		case <-ticker.C:
		case <-ended:
			last = true
		}
		collector <- collect{take: taken}
		pending := <-taken
		count, err := stream.acknowledge(&pending)
		if err != nil {
			stream.CloseRead()
			<-ended
			break
		}
		received += count
	}
	counted <- received
}

const (
	// ackEvery is the number of blocks after which async-ack acknowledges.
	ackEvery = 22
	// blocksWaiting is the number of blocks that may wait for the responder.
	blocksWaiting = 100
)

// asyncAck passes blocks as they were read to a responder, which parses and acknowledges them.
// Their buffers are used again.
func asyncAck(stream *connection) int64 {
	blocks, free := make(chan []byte, blocksWaiting), make(chan []byte, blocksWaiting)
	counted := make(chan int64)
	go respond(stream, blocks, free, counted)
	for {
		var block []byte
		select {
		case block = <-free:
		default:
			block = make([]byte, blockUsual)
		}
		read, err := stream.Read(block)
		if err != nil {
			break
		}
		blocks <- block[:read]
	}
	close(blocks)
	return <-counted
}

// respond acknowledges every 22nd block, and after 5 ms of silence. After an error it closes the
// connection and receives the remaining blocks.
func respond(stream *connection, blocks <-chan []byte, free chan<- []byte, counted chan<- int64) {
	var pending owed
	var rest []byte
	var newest time.Time
	since, received, needed := 0, int64(0), headSize
	// One timer, which is set again when it expires before the silence has lasted.
	quiet := time.NewTimer(tick)
	armed := true
	acknowledge := func() bool {
		since = 0
		count, err := stream.acknowledge(&pending)
		received += count
		return err == nil
	}
	healthy := true
	for open := true; open && healthy; {
		select {
		case block, more := <-blocks:
			if !more {
				open = false
				healthy = acknowledge()
				break
			}
			newest = time.Now()
			var found owed
			rest, found, needed = parse(rest, block)
			recycle(free, block)
			pending.add(found)
			if since++; since == ackEvery || needed == 0 {
				healthy = acknowledge() && needed > 0
			}
			if !armed && pending.count > 0 {
				quiet.Reset(tick)
				armed = true
			}
		case <-quiet.C:
			armed = false
			if left := tick - time.Since(newest); pending.count > 0 && left > 0 {
				quiet.Reset(left)
				armed = true
			} else {
				healthy = acknowledge()
			}
		}
	}
	quiet.Stop()
	if !healthy {
		stream.CloseRead()
		for range blocks {
		}
	}
	counted <- received
}

// parse parses a block that follows these bytes. It returns the remaining bytes, which are copied,
// what is owed, and the size of the next message as by skim.
func parse(rest, block []byte) ([]byte, owed, int) {
	whole := block
	if len(rest) > 0 {
		rest = append(rest, block...)
		whole = rest
	}
	found, used, needed := skim(whole)
	return append(rest[:0], whole[used:]...), found, needed
}

// recycle returns a buffer to the reader, unless there are enough.
func recycle(free chan<- []byte, block []byte) {
	select {
	case free <- block[:cap(block)]:
	default:
	}
}

// handledWaiting is the number of blocks that may wait for the handling goroutine.
const handledWaiting = 64

// handed is a block of complete messages.
type handed struct {
	block []byte
	done  chan<- struct{}
}

var (
	takerOnce sync.Once
	taker     = make(chan handed, handledWaiting)
)

// bestEach passes blocks of complete messages to one goroutine for all connections, which calls a
// function for each message, and then acknowledges the block.
func bestEach(stream *connection) int64 {
	takerOnce.Do(func() { go takeAll() })
	blocks, done := newBuffer(blockLarge), make(chan struct{}, 1)
	received := int64(0)
	for needed := headSize; needed > 0; {
		if blocks.fill(stream, needed) != nil {
			break
		}
		var found owed
		var used int
		if found, used, needed = skim(blocks.content()); used > 0 {
			taker <- handed{blocks.content()[:used], done}
			<-done
			blocks.consume(used)
		}
		count, err := stream.acknowledge(&found)
		if err != nil {
			break
		}
		received += count
	}
	return received
}

// takeAll calls take for each message of all connections.
func takeAll() {
	sum := uint64(0)
	for taken := range taker {
		for rest := taken.block; len(rest) > 0; {
			size, _ := first(rest)
			take(binary.LittleEndian.Uint64(rest), rest[headSize:size], &sum)
			rest = rest[size:]
		}
		taken.done <- struct{}{}
	}
}

// take is a placeholder for a user's function: it reads the message and updates a state.
//
//go:noinline
func take(id uint64, payload []byte, sum *uint64) { *sum += id + uint64(len(payload)) }
