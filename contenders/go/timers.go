package main

import (
	"sort"
	"time"
)

// Timers: timers and timer-expiry.

// soon is the duration of the timers that are stopped.
const soon = 5 * time.Second

// drawRange is the number of values of a draw.
const drawRange = 1 << 31

// keysOf returns the first count draws of a seed.
func keysOf(seed, count int64) []int64 {
	x, drawn := draws{seed % drawRange}, make([]int64, count)
	for i := range drawn {
		drawn[i] = x.below(drawRange)
	}
	return drawn
}

// cancelOrder returns the indices of the window in the order in which its timers are stopped.
func cancelOrder(window, seed int64) []int {
	keys, order := keysOf(seed, window), make([]int, window)
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(one, other int) bool {
		a, b := order[one], order[other]
		return keys[a] < keys[b] || keys[a] == keys[b] && a < b
	})
	return order
}

func timers(p params) sample {
	n, order := p.number("n"), cancelOrder(p.number("window"), p.number("seed"))
	alive, next := make([]*time.Timer, len(order)), make([]*time.Timer, 0, len(order))
	expired := make(chan struct{}, len(order))
	// WHY: AfterFunc. Since Go 1.23 the timer of NewTimer is in the runtime's heap only while a goroutine waits for it.
	expire := func() { expired <- struct{}{} }
	for i := range alive {
		alive[i] = time.AfterFunc(soon, expire)
	}
	sent, received, taken := int64(0), int64(0), 0

	start := time.Now()
	for ; sent < n; sent++ {
		if taken == len(order) {
			alive, next, taken = next, alive[:0], 0
		}
		timer := alive[order[taken]]
		if timer.Stop() {
			received++
		}
		taken++
		// A timer that was stopped can be set again, which allocates nothing.
		timer.Reset(soon)
		next = append(next, timer)
	}
	elapsed := time.Since(start)

	for _, index := range order[taken:] {
		next = append(next, alive[index])
	}
	waiting := int64(0)
	for _, timer := range next {
		if timer.Stop() {
			waiting++
		}
	}
	return sample{elapsed, n, sent, received, map[string]int64{"waiting": waiting}}
}

func timerExpiry(p params) sample {
	n, spread := p.number("n"), p.number("spread_ms")
	expired := make(chan time.Time, n)
	within := keysOf(p.number("seed"), n)

	first := time.Now().Add(time.Duration(p.number("after_ms")) * time.Millisecond)
	for _, x := range within {
		due := first.Add(time.Duration(x*(spread+1)/drawRange) * time.Millisecond)
		// A goroutine for each timer exists before the clock starts. AfterFunc would create it when the timer is due.
		go func() {
			time.Sleep(time.Until(due))
			expired <- due
		}()
	}
	overdue := int64(0)
	if time.Since(first) > 0 {
		overdue = 1
	}
	late := delays{}
	for i := int64(0); i < n; i++ {
		due := <-expired
		if spread > 0 {
			late = append(late, time.Since(due))
		}
	}
	elapsed := time.Since(first)

	told := map[string]int64{"overdue": overdue}
	for name, value := range late.figures() {
		told[name] = value
	}
	return sample{elapsed, n, n, n, told}
}
