package main

import (
	"sync"
	"sync/atomic"
	"time"
)

// Messages between long-lived goroutines: ping-pong, throughput, fan-in, fan-out and thread-ring.

// Capacity of the channel of a single receiver, and of each of many receivers. A sender that is
// ahead of its receiver then blocks occasionally, and not on every message.
const (
	room     = 1024
	roomEach = 64
)

// tally counts the messages that a goroutine has sent and received.
type tally struct{ sent, received int64 }

func (t *tally) add(other tally) {
	t.sent += other.sent
	t.received += other.received
}

func pingPong(p params) sample {
	n := p.number("n")
	var own tally
	var trips delays

	start := time.Now()
	ping, pong := make(chan int64, 1), make(chan int64, 1)
	counted := make(chan tally)
	go echo(ping, pong, counted)
	for round := int64(0); round < n; round++ {
		var due time.Time
		if round%tripEvery == 0 {
			due = time.Now()
		}
		ping <- round
		own.sent++
		if <-pong == round {
			own.received++
		}
		if round%tripEvery == 0 {
			trips = append(trips, time.Since(due))
		}
	}
	elapsed := time.Since(start)

	close(ping)
	own.add(<-counted)
	return sample{elapsed, n, own.sent, own.received, trips.figures()}
}

// echo sends each message back.
func echo(mailbox <-chan int64, back chan<- int64, counted chan<- tally) {
	var own tally
	for message := range mailbox {
		own.received++
		back <- message
		own.sent++
	}
	counted <- own
}

func throughput(p params) sample { return manyToOne(1, p.number("n")) }

func fanIn(p params) sample { return manyToOne(p.number("senders"), p.number("n")) }

func manyToOne(senders, n int64) sample {
	var sent atomic.Int64
	received := int64(0)
	var waits delays

	start := time.Now()
	mailbox := make(chan int64, room)
	var sending sync.WaitGroup
	sending.Add(int(senders))
	for sender := int64(0); sender < senders; sender++ {
		go func(share int64) {
			defer sending.Done()
			for message := int64(0); message < share; message++ {
				mailbox <- stamp(message)
			}
			sent.Add(share)
		}(share(n, senders, sender))
	}
	go func() {
		sending.Wait()
		close(mailbox)
	}()
	for carried := range mailbox {
		waits.received(carried)
		received++
	}
	return sample{time.Since(start), n, sent.Load(), received, waits.figures()}
}

// share returns the share of one part of total; part 0 also gets the remainder.
func share(total, parts, part int64) int64 {
	if part == 0 {
		return total/parts + total%parts
	}
	return total / parts
}

func fanOut(p params) sample {
	n, processes := p.number("n"), p.number("processes")
	reports := make(chan int64, room)
	receivers := make([]chan int64, processes)
	for place := range receivers {
		receivers[place] = make(chan int64, roomEach)
		due := n / processes
		if int64(place) < n%processes {
			due++
		}
		go takeShare(receivers[place], due, reports)
	}
	for range receivers {
		<-reports
	}
	sent, received := int64(0), int64(0)

	start := time.Now()
	place := 0
	for ; sent < n; sent++ {
		receivers[place] <- sent
		if place++; place == len(receivers) {
			place = 0
		}
	}
	for range receivers {
		received += <-reports
	}
	return sample{time.Since(start), n, sent, received, nil}
}

// takeShare reports that it runs, receives its share of the messages and reports the number
// received.
func takeShare(mailbox <-chan int64, share int64, root chan<- int64) {
	root <- 0
	received := int64(0)
	for ; received < share; received++ {
		<-mailbox
	}
	root <- received
}

func threadRing(p params) sample {
	n, processes := p.number("n"), p.number("processes")
	home := make(chan struct{})
	counted := make(chan tally, room)
	first := make(chan int64, 1)
	mailbox := first
	for i := int64(1); i < processes; i++ {
		next := make(chan int64, 1)
		go passOn(mailbox, next, home, counted)
		mailbox = next
	}
	go passOn(mailbox, first, home, counted)

	start := time.Now()
	first <- n
	<-home
	elapsed := time.Since(start)

	all := tally{sent: 1}
	for i := int64(0); i < processes; i++ {
		all.add(<-counted)
	}
	return sample{elapsed, n, all.sent, all.received, nil}
}

// passOn forwards the token until no hop is left. The goroutine that receives the last hop notifies
// the root and returns, which closes the channel of the next goroutine, and so on around the ring.
func passOn(mailbox <-chan int64, next chan<- int64, home chan<- struct{}, counted chan<- tally) {
	var own tally
	for hops := range mailbox {
		own.received++
		if hops == 1 {
			home <- struct{}{}
			break
		}
		next <- hops - 1
		own.sent++
	}
	close(next)
	counted <- own
}
