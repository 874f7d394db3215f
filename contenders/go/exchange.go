package main

import (
	"sync"
	"time"
)

// Two goroutines that compute and exchange messages: exchange, message-size, bandwidth and
// message-moved.

// roomExchange is the maximum capacity of the channel of either goroutine.
const roomExchange = 1 << 16

// stockMax limits the stock of lists of one goroutine, in elements: 96 MiB.
const stockMax = 96 << 20 / 8

// payload is the payload source and sink of a goroutine.
type payload[M any] interface {
	supply() M
	accept(M)
	// figures returns the total length of all accepted lists, and the number of lists that were
	// allocated while the clock ran.
	figures() (elements, allocated int64)
}

// short supplies messages of one machine word.
type short struct{ next int64 }

func (s *short) supply() int64           { s.next++; return s.next }
func (s *short) accept(int64)            {}
func (s *short) figures() (int64, int64) { return 0, 0 }

// moved supplies lists that change owner: received lists are sent again.
type moved struct {
	stock               [][]int64
	length              int64
	elements, allocated int64
}

func (m *moved) supply() []int64 {
	last := len(m.stock) - 1
	if last < 0 {
		m.allocated++
		return make([]int64, m.length)
	}
	list := m.stock[last]
	m.stock = m.stock[:last]
	return list
}

func (m *moved) accept(list []int64) {
	m.elements += int64(len(list))
	m.stock = append(m.stock, list)
}

func (m *moved) figures() (int64, int64) { return m.elements, m.allocated }

// copied supplies a copy of the original for each send, in a list that was received before, if there is one.
type copied struct {
	original []int64
	lists    *sync.Pool
	elements int64
}

func (c *copied) supply() []int64 {
	list := *c.lists.Get().(*[]int64)
	return append(list[:0], c.original...)
}

func (c *copied) accept(list []int64) {
	c.elements += int64(len(list))
	c.lists.Put(&list)
}

func (c *copied) figures() (int64, int64) { return c.elements, 0 }

// list returns a list of small integers.
func list(length int64) []int64 {
	list := make([]int64, length)
	for i := range list {
		list[i] = int64(i) & 0xff
	}
	return list
}

func exchange(p params) sample {
	return meet[int64](p, func() payload[int64] { return &short{} })
}

func exchangeCopied(p params) sample {
	lists := &sync.Pool{New: func() any { return new([]int64) }}
	return meet[[]int64](p, func() payload[[]int64] {
		return &copied{original: list(p.number("s")), lists: lists}
	})
}

func exchangeMoved(p params) sample {
	n, length := p.number("n"), p.number("s")
	return meet[[]int64](p, func() payload[[]int64] {
		count := least(n, stockMax/(length+3))
		stock := make([][]int64, count, 2*count)
		for i := range stock {
			stock[i] = list(length)
		}
		return &moved{stock: stock, length: length}
	})
}

func least(one, other int64) int64 {
	if one < other {
		return one
	}
	return other
}

// meet runs the repetitions. The payloads of both sides are built before the clock starts and are
// reused in each repetition.
func meet[M any](p params, build func() payload[M]) sample {
	n, reps := p.number("n"), p.number("reps")
	stores := []payload[M]{build(), build()}
	total := sample{ops: n * reps, more: map[string]int64{"sink": 0, "elements": 0, "allocated": 0}}
	for i := int64(0); i < reps; i++ {
		there, back := make(chan M, least(n, roomExchange)), make(chan M, least(n, roomExchange))
		sides := []*side[M]{
			{payload: stores[0], mailbox: back, partner: there},
			{payload: stores[1], mailbox: there, partner: back},
		}
		ready, told, finished := make(chan struct{}), make(chan struct{}), make(chan struct{})
		for _, one := range sides {
			go func(one *side[M]) {
				ready <- struct{}{}
				<-told
				one.run(p)
				finished <- struct{}{}
			}(one)
		}
		<-ready
		<-ready

		start := time.Now()
		close(told)
		<-finished
		<-finished
		total.elapsed += time.Since(start)

		for _, one := range sides {
			total.sent += one.sent
			total.received += one.received
			total.more["sink"] += one.x
		}
	}
	for _, store := range stores {
		elements, allocated := store.figures()
		total.more["elements"] += elements
		total.more["allocated"] += allocated
	}
	return total
}

// side is the state of one of the two goroutines.
type side[M any] struct {
	payload        payload[M]
	mailbox        <-chan M
	partner        chan<- M
	sent, received int64
	x              int64
}

func (s *side[M]) run(p params) {
	n, pieces, steps := p.number("n"), p.number("pieces"), p.number("work")
	each, rest, carried := n/pieces, n%pieces, int64(0)
	s.x = 1
	for i := int64(0); i < pieces; i++ {
		s.x = work(s.x, steps)
		due := each
		if carried += rest; carried >= pieces {
			carried -= pieces
			due++
		}
		for ; due > 0; due-- {
			s.send(s.payload.supply())
		}
		select {
		case message, open := <-s.mailbox:
			s.take(message, open)
		default:
		}
	}
	// Ends the partner's drain loop.
	close(s.partner)
	for s.mailbox != nil {
		message, open := <-s.mailbox
		s.take(message, open)
	}
}

func (s *side[M]) send(message M) {
	s.sent++
	select {
	case s.partner <- message:
		return
	default:
	}
	// The channel is full: receive as well, because the partner may be blocked on a full channel too.
	for {
		select {
		case s.partner <- message:
			return
		case message, open := <-s.mailbox:
			s.take(message, open)
		}
	}
}

// take accepts a message. If the mailbox is closed, take sets it to nil, which disables its select
// cases and ends the drain loop.
func (s *side[M]) take(message M, open bool) {
	if !open {
		s.mailbox = nil
		return
	}
	s.received++
	s.payload.accept(message)
}

// work computes one piece of work.
//
//go:noinline
func work(x, steps int64) int64 {
	for i := int64(0); i < steps; i++ {
		x = (x*20077 + 12345) & 0x7fffffff
	}
	return x
}
