package main

import "time"

// What a call costs and what a message costs: call-vs-send and tail-call.

// How often the receiver looks at the length of its queue: every so many messages.
const lookEvery = 1024

// less is called for each step. Go makes no jumps of tail calls: who calls itself so often runs out
// of stack.
//
//go:noinline
func less(left int64) int64 { return left - 1 }

func countDown(n int64) int64 {
	for n != 0 {
		n = less(n)
	}
	return n
}

func tailCall(p params) sample {
	n, reps := p.number("n"), p.number("reps")
	left := int64(0)

	start := time.Now()
	for i := int64(0); i < reps; i++ {
		left += countDown(n)
	}
	return sample{time.Since(start), n * reps, 0, 0, map[string]int64{"left": left}}
}

func callVsSend(p params) sample {
	n := p.number("n")
	if p.word("mode") == "local" {
		start := time.Now()
		left := countDown(n)
		return sample{time.Since(start), n - left, 0, 0, nil}
	}
	mailbox := make(chan int64, room)
	counted := make(chan [2]int64)
	go dropAll(mailbox, counted)
	sent := int64(0)

	start := time.Now()
	for left := n; left != 0; left = less(left) {
		mailbox <- left
		sent++
	}
	elapsed := time.Since(start)

	close(mailbox)
	receivedAndPeak := <-counted
	received, peak := receivedAndPeak[0], receivedAndPeak[1]
	return sample{elapsed, n, sent, received, map[string]int64{"queue_peak": peak, "queue_peak_bytes": peak * 8}}
}

// dropAll receives and drops until nobody sends any more; how many came and how many were waiting.
func dropAll(mailbox <-chan int64, counted chan<- [2]int64) {
	received, peak := int64(0), int64(0)
	for range mailbox {
		received++
		if waiting := int64(len(mailbox)); received%lookEvery == 1 && waiting > peak {
			peak = waiting
		}
	}
	counted <- [2]int64{received, peak}
}
