package main

import "time"

// A request and its reply, again and again: call.

// How long a call waits, as gen_server:call does.
const patience = 5 * time.Second

// request is a question with the way back of its answer.
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
	for round := int64(0); round < n; round++ {
		var due time.Time
		if round%tripEvery == 0 {
			due = time.Now()
		}
		// With room for the answer, so that the server never waits for a caller that has gone.
		reply := make(chan int64, 1)
		server <- request{round, reply}
		own.sent++
		timeout := time.NewTimer(patience)
		select {
		case what := <-reply:
			if what == round {
				own.received++
			}
		case <-timeout.C:
		}
		timeout.Stop()
		if round%tripEvery == 0 {
			trips = append(trips, time.Since(due))
		}
	}
	elapsed := time.Since(start)

	close(server)
	own.add(<-counted)
	return sample{elapsed, n, own.sent, own.received, trips.figures()}
}

// serve answers whatever is asked.
func serve(mailbox <-chan request, counted chan<- tally) {
	var own tally
	for asked := range mailbox {
		own.received++
		asked.reply <- asked.what
		own.sent++
	}
	counted <- own
}
