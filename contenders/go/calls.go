package main

import "time"

// Cost of a function call and of a message: call-vs-send and tail-call.

// lookEvery is the number of messages between two samples of the receiver's queue length.
const lookEvery = 1024

// less is called in each step of a loop. Go has no tail-call elimination: n nested calls would
// overflow the stack.
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

// dropAll receives and drops messages until the channel is closed. It reports the number received
// and the peak queue length.
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
