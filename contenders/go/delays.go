package main

import (
	"sort"
	"time"
)

// How long messages and round trips take, one at a time, beside the time of all of them together.

// One message in so many carries the time at which it is sent, and one round trip in so many is timed.
const (
	stampEvery = 1024
	tripEvery  = 256
)

// origin is where stamps are counted from.
var origin = time.Now()

// stamp is what this message of a sender carries: the time, or 0 if it is not timed.
func stamp(message int64) int64 {
	if message%stampEvery != 0 {
		return 0
	}
	return int64(time.Since(origin))
}

// delays is how long those took that were timed.
type delays []time.Duration

// received takes in a message that carried this stamp.
func (d *delays) received(stamp int64) {
	if stamp != 0 {
		*d = append(*d, time.Since(origin)-time.Duration(stamp))
	}
}

// at is the time that so many in a hundred do not pass. They must be in order.
func (d delays) at(percent int) int64 {
	if len(d) == 0 {
		return 0
	}
	return int64(d[(len(d)*percent+99)/100-1])
}

// figures are the median, the 99th percentile and the longest; none if nothing was timed.
func (d delays) figures() map[string]int64 {
	if len(d) == 0 {
		return nil
	}
	return d.percentiles()
}

func (d delays) percentiles() map[string]int64 {
	sort.Slice(d, func(one, other int) bool { return d[one] < d[other] })
	return map[string]int64{"p50_ns": d.at(50), "p99_ns": d.at(99), "max_ns": d.at(100)}
}
