package main

import (
	"sort"
	"time"
)

// Latency of single messages and round trips, sampled during a throughput measurement.

// One message in stampEvery carries its send time, and one round trip in tripEvery is timed.
const (
	stampEvery = 1024
	tripEvery  = 256
)

// origin is the time that stamps are relative to.
var origin = time.Now()

// stamp returns the value that the message with this number carries: the time since origin, or 0 if
// the message is not timed.
func stamp(message int64) int64 {
	if message%stampEvery != 0 {
		return 0
	}
	return int64(time.Since(origin))
}

// delays holds the latencies of the timed messages or round trips.
type delays []time.Duration

// received records the receipt of a message with this stamp. It is small enough to be inlined.
func (d *delays) received(stamp int64) {
	if stamp != 0 {
		d.record(stamp)
	}
}

func (d *delays) record(stamp int64) {
	*d = append(*d, time.Since(origin)-time.Duration(stamp))
}

// at returns a percentile: the smallest time that percent of the times do not exceed. d must be
// sorted. It returns 0 if d is empty.
func (d delays) at(percent int) int64 {
	if len(d) == 0 {
		return 0
	}
	return int64(d[(len(d)*percent+99)/100-1])
}

// figures returns the median, the 90th and 99th percentiles and the maximum, or nil if nothing was timed.
func (d delays) figures() map[string]int64 {
	if len(d) == 0 {
		return nil
	}
	return d.percentiles()
}

func (d delays) percentiles() map[string]int64 {
	sort.Slice(d, func(one, other int) bool { return d[one] < d[other] })
	return map[string]int64{"p50_ns": d.at(50), "p90_ns": d.at(90), "p99_ns": d.at(99), "max_ns": d.at(100)}
}
