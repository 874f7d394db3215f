// Command plain holds plain Go programs for some experiments of the lab, without the lab's protocol
// and code.
//
//	go run ./plain ping-pong 100000
//
// Reference for the lab's Go column: each function is what a Go programmer writes first.
// scripts/plain-programs.sh runs it alternately with the contender and compares the times. It runs
// the experiment twice, the first time to warm up, and prints the nanoseconds per operation of the
// second run. GOMAXPROCS sets the number of threads.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

const usage = "usage: plain throughput|fan-in|ping-pong|spawn-chain|fork-join|call N"

var experiments = map[string]func(int){
	"throughput":  func(n int) { fanIn(1, n) },
	"fan-in":      func(n int) { fanIn(64, n) },
	"ping-pong":   pingPong,
	"spawn-chain": spawnChain,
	"fork-join":   forkJoin,
	"call":        call,
}

func main() {
	if len(os.Args) != 3 || experiments[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	n, err := strconv.Atoi(os.Args[2])
	if err != nil || n < 1 || n > 1_000_000_000 {
		fmt.Fprintf(os.Stderr, "plain: N is a number from 1 to 1000000000, not %q\n", os.Args[2])
		os.Exit(2)
	}
	var elapsed time.Duration
	for i := 0; i < 2; i++ {
		runtime.GC()
		start := time.Now()
		experiments[os.Args[1]](n)
		elapsed = time.Since(start)
	}
	fmt.Printf("%.2f\n", float64(elapsed.Nanoseconds())/float64(n))
}

func fanIn(senders, n int) {
	mailbox := make(chan int, 1024)
	var sending sync.WaitGroup
	for sender := 0; sender < senders; sender++ {
		share := n / senders
		if sender == 0 {
			share += n % senders
		}
		sending.Add(1)
		go func() {
			defer sending.Done()
			for i := 0; i < share; i++ {
				mailbox <- i
			}
		}()
	}
	go func() {
		sending.Wait()
		close(mailbox)
	}()
	received := 0
	for range mailbox {
		received++
	}
	must(received == n)
}

func pingPong(n int) {
	ping, pong := make(chan int), make(chan int)
	go func() {
		for i := range ping {
			pong <- i
		}
	}()
	for i := 0; i < n; i++ {
		ping <- i
		must(<-pong == i)
	}
	close(ping)
}

// spawnChain runs chains of 1000 goroutines, one after the other.
func spawnChain(n int) {
	done := make(chan bool)
	var next func(left int)
	next = func(left int) {
		if left == 1 {
			done <- true
		} else {
			go next(left - 1)
		}
	}
	for left := n; left > 0; left -= 1000 {
		go next(min(left, 1000))
		<-done
	}
}

func forkJoin(n int) {
	reports := make(chan int, n)
	for i := 0; i < n; i++ {
		go func(i int) { reports <- i }(i)
	}
	sum := 0
	for i := 0; i < n; i++ {
		sum += <-reports
	}
	must(sum == n*(n-1)/2)
}

type request struct {
	what  int
	reply chan int
}

func call(n int) {
	server := make(chan request)
	go func() {
		for asked := range server {
			asked.reply <- asked.what
		}
	}()
	for i := 0; i < n; i++ {
		reply := make(chan int, 1)
		server <- request{i, reply}
		select {
		case what := <-reply:
			must(what == i)
		case <-time.After(5 * time.Second):
			must(false)
		}
	}
	close(server)
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func must(right bool) {
	if !right {
		panic("a message was lost or changed")
	}
}
