package main

import (
	"sync"
	"sync/atomic"
	"time"
)

// Round trips while other goroutines compute without pause: hog.

// leadTime is the time from the beginning of a run to its first trip.
const leadTime = 5 * time.Millisecond

// graceTime is the time for trips in progress to complete after the last start.
const graceTime = 2 * time.Second

// workSteps is the number of steps between two checks of the stop flag: a few microseconds.
const workSteps = 4096

// tripsMax limits the trips of a closed loop; the loop ends when it is reached.
const tripsMax = 1 << 22

// trips is the state of a run: the channels of both goroutines, and the trips and latencies
// recorded by the first.
type trips struct {
	due, back chan time.Time
	partner   chan time.Time
	end       chan struct{}
	allBack   chan struct{}
	// Number of trips of an open loop (0 for a closed loop), and the end of a closed loop.
	expected int
	until    time.Time
	started  int
	times    delays
	// Lateness of the timers of an open loop.
	late delays
}

func hog(p params) sample {
	ms := p.number("ms")
	begin := time.Now().Add(leadTime)
	starts := ms
	t := &trips{end: make(chan struct{}), allBack: make(chan struct{})}
	if p.word("loop") == "open" {
		t.expected = int(ms)
	} else {
		starts = 1
		t.until = begin.Add(time.Duration(ms) * time.Millisecond)
	}
	// Capacity for all trips that can be in progress, so that no send blocks.
	t.due, t.back = make(chan time.Time, starts), make(chan time.Time, starts)
	t.partner = make(chan time.Time, starts)

	var stop atomic.Bool
	var running sync.WaitGroup
	start := func(run func()) {
		running.Add(1)
		go func() {
			defer running.Done()
			run()
		}()
	}
	start(t.first)
	start(t.answer)
	for i := int64(0); i < p.number("hogs"); i++ {
		start(func() { compute(&stop) })
	}
	for i := int64(0); i < starts; i++ {
		due := begin.Add(time.Duration(i) * time.Millisecond)
		time.Sleep(time.Until(due))
		t.due <- due
	}
	select {
	case <-t.allBack:
	case <-time.After(time.Until(begin.Add(time.Duration(ms)*time.Millisecond + graceTime))):
	}
	elapsed := time.Since(begin)
	stop.Store(true)
	close(t.end)
	running.Wait()

	sent := int64(t.started)
	if t.expected > 0 {
		sent = ms
	}
	back := int64(len(t.times))
	starved := int64(0)
	if back < sent {
		starved = 1
	}
	told := t.times.percentiles()
	told["starved"] = starved
	late := t.late.percentiles()
	told["late_p50_ns"], told["late_p99_ns"] = late["p50_ns"], late["p99_ns"]
	return sample{elapsed, back, sent, back, told}
}

// first starts each trip and records its latency when it returns.
func (t *trips) first() {
	defer close(t.partner)
	for {
		select {
		case due := <-t.due:
			if t.expected == 0 {
				due = time.Now()
			} else {
				t.late = append(t.late, time.Since(due))
			}
			t.started++
			t.partner <- due
		case start := <-t.back:
			now := time.Now()
			t.times = append(t.times, now.Sub(start))
			switch {
			case t.expected == 0 && now.Before(t.until) && t.started < tripsMax:
				t.started++
				t.partner <- now
			case t.expected <= len(t.times):
				close(t.allBack)
				<-t.end
				return
			}
		case <-t.end:
			return
		}
	}
}

// answer sends each message back.
func (t *trips) answer() {
	for start := range t.partner {
		t.back <- start
	}
}

func compute(stop *atomic.Bool) {
	x := int64(1)
	for !stop.Load() {
		x = work(x, workSteps)
	}
}
