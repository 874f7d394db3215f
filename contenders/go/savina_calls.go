package main

import "time"

// Programs of the Savina suite in which goroutines call another one: bounded-buffer, chameneos, dictionary and
// philosophers; and spread.

// consumed is the report of a consumer.
type consumed struct{ items, sum int64 }

func boundedBuffer(p params) sample {
	producers, consumers, cost, n := p.number("producers"), p.number("consumers"), p.number("cost"), p.number("n")

	start := time.Now()
	put, get := make(chan int64), make(chan int64)
	go manage(put, get, int(p.number("capacity")-producers), producers*n)
	reports, produced := make(chan consumed), make(chan int64, producers)
	for i := int64(0); i < consumers; i++ {
		go consume(get, cost, reports)
	}
	for i := int64(0); i < producers; i++ {
		go produce(put, cost, n, produced)
	}
	received, sink := int64(0), int64(0)
	for i := int64(0); i < consumers; i++ {
		report := <-reports
		received += report.items
		sink = (sink + report.sum) & 0x7fffffff
	}
	elapsed := time.Since(start)

	sent := int64(0)
	for i := int64(0); i < producers; i++ {
		sent += <-produced
	}
	return sample{elapsed, producers * n, sent, received, map[string]int64{"sink": sink}}
}

func produce(put chan<- int64, cost, n int64, produced chan<- int64) {
	item := int64(1)
	for i := int64(0); i < n; i++ {
		item = work(item, cost)
		put <- item
	}
	produced <- n
}

func consume(get <-chan int64, cost int64, reports chan<- consumed) {
	var own consumed
	for item := range get {
		own.sum = (own.sum + work(item, cost)) & 0x7fffffff
		own.items++
	}
	reports <- own
}

// manage passes on total items. While its buffer is full it receives none, so producers wait, and consumers wait while
// it is empty.
func manage(put <-chan int64, get chan<- int64, capacity int, total int64) {
	var items []int64
	for left := total; left > 0; {
		in, out, oldest := put, get, int64(0)
		if len(items) == capacity {
			in = nil
		}
		if len(items) == 0 {
			out = nil
		} else {
			oldest = items[0]
		}
		select {
		case item := <-in:
			items = append(items, item)
		case out <- oldest:
			items = items[1:]
			left--
		}
	}
	close(get)
}

// visit is the request of a creature, answered with the colour of another one, or with closed.
type visit struct {
	colour int64
	answer chan<- int64
}

// closed is the mall's answer after the last meeting.
const closed = -1

func chameneos(p params) sample {
	creatures, n := p.number("creatures"), p.number("n")

	start := time.Now()
	mall := make(chan visit, creatures)
	meetings, met := make(chan int64, 1), make(chan int64)
	go pair(mall, creatures, n, meetings)
	for i := int64(0); i < creatures; i++ {
		go creature(i%3, mall, met)
	}
	received := int64(0)
	for i := int64(0); i < creatures; i++ {
		received += <-met
	}
	elapsed := time.Since(start)

	return sample{elapsed, n, 2 * <-meetings, received, nil}
}

func creature(colour int64, mall chan<- visit, met chan<- int64) {
	answer, count := make(chan int64, 1), int64(0)
	for {
		mall <- visit{colour, answer}
		other := <-answer
		if other == closed {
			met <- count
			return
		}
		if other != colour {
			colour = 3 - colour - other
		}
		count++
	}
}

// pair answers creatures in pairs until there were n meetings, then closes to all of them.
func pair(mall <-chan visit, inside, n int64, meetings chan<- int64) {
	var first visit
	count := int64(0)
	for inside > 0 {
		next := <-mall
		switch {
		case count == n:
			next.answer <- closed
			inside--
		case first.answer == nil:
			first = next
		default:
			first.answer <- next.colour
			next.answer <- first.colour
			first = visit{}
			count++
		}
	}
	meetings <- count
}

// keys is the number of keys of the dictionary.
const keys = 65_536

// lookup is a request to the dictionary: a read, or a write.
type lookup struct {
	key, value int64
	write      bool
	answer     chan<- int64
}

func dictionary(p params) sample {
	workers, n := p.number("workers"), p.number("n")
	entries := make(map[int64]int64, keys)
	for key := int64(0); key < keys; key++ {
		entries[key] = key
	}

	start := time.Now()
	// Each worker has at most one request on its way.
	asked := make(chan lookup, workers)
	reports, served, writes := make(chan tally), make(chan tally, 1), int64(0)
	go lookUp(entries, asked, served, &writes)
	for i := int64(0); i < workers; i++ {
		go ask(i, p.number("writes"), n, asked, reports)
	}
	var all tally
	for i := int64(0); i < workers; i++ {
		all.add(<-reports)
	}
	elapsed := time.Since(start)

	close(asked)
	all.add(<-served)
	return sample{elapsed, workers * n, all.sent, all.received, map[string]int64{"writes": writes}}
}

// ask makes the requests of one worker.
func ask(number, writes, n int64, dictionary chan<- lookup, reports chan<- tally) {
	var own tally
	draw, answer := stream(number), make(chan int64, 1)
	for i := int64(0); i < n; i++ {
		write := draw.below(100) < writes
		request := lookup{key: draw.below(keys), write: write, answer: answer}
		if write {
			request.value = request.key + keys*draw.below(1000)
		}
		dictionary <- request
		own.sent++
		if value := <-answer; value%keys == request.key {
			own.received++
		}
	}
	reports <- own
}

// lookUp answers requests until the channel is closed.
func lookUp(entries map[int64]int64, asked <-chan lookup, served chan<- tally, writes *int64) {
	var own tally
	for request := range asked {
		own.received++
		if request.write {
			entries[request.key] = request.value
			*writes++
		}
		request.answer <- entries[request.key]
		own.sent++
	}
	served <- own
}

// hungry is the request of a philosopher, answered with whether both forks were free. Without a channel for the answer
// the philosopher has eaten.
type hungry struct {
	seat   int64
	answer chan<- bool
}

func philosophers(p params) sample {
	count, n := p.number("philosophers"), p.number("n")

	start := time.Now()
	asked := make(chan hungry, 2*count)
	served, eaten := make(chan [2]int64, 1), make(chan int64)
	go arbitrate(count, count*n, asked, served)
	for seat := int64(0); seat < count; seat++ {
		go philosopher(seat, n, asked, eaten)
	}
	received := int64(0)
	for seat := int64(0); seat < count; seat++ {
		received += <-eaten
	}
	elapsed := time.Since(start)

	grantedAndDenied := <-served
	return sample{elapsed, count * n, grantedAndDenied[0], received, map[string]int64{"denied": grantedAndDenied[1]}}
}

func philosopher(seat, n int64, arbiter chan<- hungry, eaten chan<- int64) {
	answer, meals := make(chan bool, 1), int64(0)
	for meals < n {
		arbiter <- hungry{seat, answer}
		if <-answer {
			meals++
			arbiter <- hungry{seat, nil}
		}
	}
	eaten <- meals
}

// arbitrate answers philosophers until the last meal has ended.
func arbitrate(count, meals int64, asked <-chan hungry, served chan<- [2]int64) {
	taken := make([]bool, count)
	granted, denied := int64(0), int64(0)
	for meals > 0 {
		request := <-asked
		left, right := &taken[request.seat], &taken[(request.seat+1)%count]
		if request.answer == nil {
			*left, *right = false, false
			meals--
			continue
		}
		free := !*left && !*right
		if free {
			*left, *right = true, true
			granted++
		} else {
			denied++
		}
		request.answer <- free
	}
	served <- [2]int64{granted, denied}
}

// Calibration of spread: the number of timings, of which the shortest counts, and of steps of work in each.
const (
	timings    = 10
	timedSteps = 200_000
)

// calibrate returns the number of steps of work that take us microseconds, and the shortest timing.
func calibrate(us int64) (steps, shortest int64) {
	for i := 0; i < timings; i++ {
		start := time.Now()
		work(1, timedSteps)
		if taken := time.Since(start).Nanoseconds(); i == 0 || taken < shortest {
			shortest = taken
		}
	}
	if shortest < 1 {
		shortest = 1
	}
	if steps = (timedSteps*us*1000 + shortest/2) / shortest; steps < 1 {
		steps = 1
	}
	return steps, shortest
}

func spread(p params) sample {
	processes, n := p.number("processes"), p.number("n")
	steps, shortest := calibrate(p.number("us"))

	start := time.Now()
	// Each goroutine has at most one request on its way.
	server, counted := make(chan request, processes), make(chan tally, 1)
	reports, results := make(chan tally), make(chan int64, processes)
	go serve(server, counted)
	for i := int64(0); i < processes; i++ {
		go computeBetween(n, steps, server, reports, results)
	}
	var all tally
	for i := int64(0); i < processes; i++ {
		all.add(<-reports)
	}
	elapsed := time.Since(start)

	close(server)
	all.add(<-counted)
	sink := int64(0)
	for i := int64(0); i < processes; i++ {
		sink += <-results
	}
	more := map[string]int64{"steps": steps, "calibration_ns": shortest, "sink": sink}
	return sample{elapsed, processes * n, all.sent, all.received, more}
}

// computeBetween calls the server and computes in turn.
func computeBetween(n, steps int64, server chan<- request, reports chan<- tally, results chan<- int64) {
	var own tally
	x, reply := int64(1), make(chan int64, 1)
	for round := int64(0); round < n; round++ {
		server <- request{round, reply}
		own.sent++
		if <-reply == round {
			own.received++
		}
		x = work(x, steps)
	}
	results <- x
	reports <- own
}
