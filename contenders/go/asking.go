package main

import "time"

// Requests with a reply channel: call.

// callTimeout is the timeout of a call: the default of gen_server:call.
const callTimeout = 5 * time.Second

// request carries a value and the channel for the reply.
type request struct {
	what  int64
	reply chan<- int64
}

func call(p params) sample {
	n := p.number("n")
	var own tally
	var trips delays

	start := time.Now()
	server := make(chan request, 1)
	counted := make(chan tally)
	go serve(server, counted)
	timeout := time.NewTimer(callTimeout)
	// Buffered, so that the server never blocks on a caller that has timed out. After a timeout the caller takes a
	// new one, because a late reply may be in this one.
	reply := make(chan int64, 1)
	for round := int64(0); round < n; round++ {
		var due time.Time
		if round%tripEvery == 0 {
			due = time.Now()
		}
		server <- request{round, reply}
		own.sent++
		timeout.Reset(callTimeout)
		select {
		case what := <-reply:
			if what == round {
				own.received++
			}
		case <-timeout.C:
			reply = make(chan int64, 1)
		}
		if round%tripEvery == 0 {
			trips = append(trips, time.Since(due))
		}
	}
	elapsed := time.Since(start)

	close(server)
	own.add(<-counted)
	return sample{elapsed, n, own.sent, own.received, trips.figures()}
}

// serve replies to each request with its value.
func serve(mailbox <-chan request, counted chan<- tally) {
	var own tally
	for asked := range mailbox {
		own.received++
		asked.reply <- asked.what
		own.sent++
	}
	counted <- own
}
