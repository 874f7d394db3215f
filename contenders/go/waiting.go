package main

import "time"

// What only waits, and timers: timers and idle-memory.

// How far off the timers are that are cancelled, and the others, which outlive the run.
const (
	soon = 5 * time.Second
	late = time.Hour
)

// So many goroutines at most are started before the root looks who has come to wait.
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

// The mailboxes of those that wait until the program ends.
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
