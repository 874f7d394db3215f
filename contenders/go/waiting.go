package main

import "time"

// Timers and idle goroutines: timers and idle-memory.

// Duration of the timers that are stopped while the clock runs, and of the others, which do not
// fire during the run.
const (
	soon = 5 * time.Second
	late = time.Hour
)

// atOnce is the maximum number of goroutines started before the root receives their ready messages.
const atOnce = 1000

func timers(p params) sample {
	n := p.number("n")
	others := make([]*time.Timer, p.number("waiting"))
	for i := range others {
		others[i] = time.NewTimer(late)
	}
	sent, received := int64(0), int64(0)

	start := time.Now()
	for ; sent < n; sent++ {
		if time.NewTimer(soon).Stop() {
			received++
		}
	}
	elapsed := time.Since(start)

	waiting := int64(0)
	for _, other := range others {
		if other.Stop() {
			waiting++
		}
	}
	return sample{elapsed, n, sent, received, map[string]int64{"waiting": waiting}}
}

// mailboxes holds the channels of the idle goroutines, which wait until the program ends.
var mailboxes []chan struct{}

func idleMemory(p params) sample {
	n := p.number("n")
	ready := make(chan struct{}, atOnce)
	sent, received := int64(0), int64(0)

	start := time.Now()
	for sent < n {
		for ; sent < n && sent < received+atOnce; sent++ {
			mailbox := make(chan struct{})
			mailboxes = append(mailboxes, mailbox)
			go func() {
				ready <- struct{}{}
				<-mailbox
			}()
		}
		for ; received < sent; received++ {
			<-ready
		}
	}
	return sample{time.Since(start), n, sent, received, nil}
}
