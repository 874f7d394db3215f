package main

import (
	"sync"
	"sync/atomic"
	"time"
)

// Round trips while others compute for ever: hog.

// How long trips may still be under way when no other starts any more.
const graceTime = 2 * time.Second

// Steps of work between two looks at whether to stop: some microseconds.
const workSteps = 4096

// The most trips of a closed loop; it ends there.
const tripsMax = 1 << 22

// trips is what the goroutine that starts the trips knows by its end.
type trips struct {
	due, back chan time.Time
	partner   chan time.Time
	end       chan struct{}
	allBack   chan struct{}
	// The trips of an open loop; until when a closed one goes on.
	expected int
	until    time.Time
	started  int
	times    delays
}

func hog(p params) sample {
	ms := p.number("ms")
	begin := time.Now()
	starts := ms
	t := &trips{end: make(chan struct{}), allBack: make(chan struct{})}
	if p.word("loop") == "open" {
		t.expected = int(ms)
	} else {
		starts = 1
		t.until = begin.Add(time.Duration(ms) * time.Millisecond)
	}
	// With room for all that can be under way, so that nobody waits to send.
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
	return sample{elapsed, back, sent, back, told}
}

// first starts each trip and measures it when it is back.
func (t *trips) first() {
	defer close(t.partner)
	for {
		select {
		case due := <-t.due:
			if t.expected == 0 {
				due = time.Now()
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

// answer sends back whatever arrives.
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
