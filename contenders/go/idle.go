package main

import "time"

// Idle goroutines: idle-memory.

// atOnce is the maximum number of goroutines started before the root receives their ready messages.
const atOnce = 1000

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
