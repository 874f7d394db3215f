package main

import "time"

// Goroutine creation: spawn-chain, serial-spawn, fork-join and skynet.

// children is the number of children of each inner tree node.
const children = 10

// chain starts a goroutine that starts the next one and returns; the last one reports how many ran.
func chain(left, ran int64, root chan<- int64) {
	go func() {
		if left == 1 {
			root <- ran + 1
		} else {
			chain(left-1, ran+1, root)
		}
	}()
}

func spawnChain(p params) sample {
	n, reps := p.number("n"), p.number("reps")
	root := make(chan int64, 1)
	sent, received := int64(0), int64(0)

	start := time.Now()
	for i := int64(0); i < reps; i++ {
		chain(n, 0, root)
		sent += n
		received += <-root
	}
	return sample{time.Since(start), n * reps, sent, received, nil}
}

func serialSpawn(p params) sample {
	m, total := p.number("m"), p.number("total")
	root := make(chan int64, room)
	sent, received := int64(0), int64(0)

	start := time.Now()
	for i := int64(0); i < m; i++ {
		length := share(total, m, i)
		chain(length, 0, root)
		sent += length
	}
	for i := int64(0); i < m; i++ {
		received += <-root
	}
	return sample{time.Since(start), total, sent, received, nil}
}

func forkJoin(p params) sample {
	n := p.number("n")
	sent, received := int64(0), int64(0)

	start := time.Now()
	// Capacity for all reports, so that each goroutine can report and return while others are started.
	reports := make(chan int64, n)
	if p.word("variant") == "alive" {
		started := make(chan struct{})
		for ; sent < n; sent++ {
			go func(child int64) {
				<-started
				reports <- child
			}(sent)
		}
		close(started)
	} else {
		for ; sent < n; sent++ {
			go func(child int64) { reports <- child }(sent)
		}
	}
	for ; received < n; received++ {
		<-reports
	}
	return sample{time.Since(start), n, sent, received, nil}
}

// report is what a node sends to its parent.
type report struct{ sum, leaves int64 }

func skynet(p params) sample {
	leaves := p.number("leaves")

	start := time.Now()
	root := make(chan report)
	go node(0, leaves, root)
	whole := <-root
	return sample{time.Since(start), leaves, leaves, whole.leaves, map[string]int64{"sum": whole.sum}}
}

// node is a tree node over size leaves, starting with leaf number first.
func node(first, size int64, parent chan<- report) {
	if size == 1 {
		parent <- report{first, 1}
		return
	}
	each := size / children
	reports := make(chan report, children)
	for child := int64(0); child < children; child++ {
		go node(first+child*each, each, reports)
	}
	var whole report
	for child := 0; child < children; child++ {
		part := <-reports
		whole.sum += part.sum
		whole.leaves += part.leaves
	}
	parent <- whole
}
