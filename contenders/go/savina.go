package main

import "time"

// Programs of the Savina suite whose processes wait for one message among others: banking, logistic-map, sieve and big.

// Parameters of the Savina programs, and the initial balance of an account.
const (
	crowdMax          = 100_000
	groupMax          = 10_000
	operationsMax     = 1_000_000_000
	operationsEachMax = 1_000_000
	balance           = 1_000_000
)

// draws is a stream of draws: x = (20077·x + 12345) mod 2^31; a draw below k is k·x / 2^31.
type draws struct{ x int64 }

func stream(number int64) draws { return draws{(number*1073741789 + 1) & 0x7fffffff} }

func (d *draws) below(k int64) int64 {
	d.x = (d.x*20077 + 12345) & 0x7fffffff
	return d.x * k >> 31
}

// transfer is a message of the teller to the source account: an amount for the destination.
type transfer struct {
	amount      int64
	destination *account
}

// deposit is a message of a source account to the destination, which confirms it.
type deposit struct {
	amount    int64
	confirmed chan<- struct{}
}

// account is a goroutine with a channel for each kind of message.
type account struct {
	transfers chan transfer
	deposits  chan deposit
	balance   int64
	tally     tally
}

func banking(p params) sample {
	count, n, reps := p.number("accounts"), p.number("n"), p.number("reps")
	elapsed, all, sum := time.Duration(0), tally{}, int64(0)
	for i := int64(0); i < reps; i++ {
		start := time.Now()
		accounts := make([]*account, count)
		// Capacity for all answers, so that no account waits for the teller, which waits for accounts.
		done := make(chan struct{}, n)
		ended := make(chan struct{})
		for i := range accounts {
			accounts[i] = &account{transfers: make(chan transfer, roomEach), deposits: make(chan deposit, 1), balance: balance}
			go accounts[i].serve(done, ended)
		}
		teller := stream(0)
		for sent := int64(0); sent < n; sent++ {
			source := teller.below(count * 4 / 5)
			destination := source + 1 + teller.below(count-source-1)
			amount := 1 + teller.below(1000)
			accounts[source].transfers <- transfer{amount, accounts[destination]}
			all.sent++
		}
		for received := int64(0); received < n; received++ {
			<-done
			all.received++
		}
		elapsed += time.Since(start)

		for _, one := range accounts {
			close(one.transfers)
			<-ended
		}
		for _, one := range accounts {
			all.add(one.tally)
			sum += one.balance
		}
	}
	return sample{elapsed, n * reps, all.sent, all.received, map[string]int64{"sum": sum}}
}

// serve handles one message at a time: while it waits for a confirmation it handles no other.
func (a *account) serve(done chan<- struct{}, ended chan<- struct{}) {
	confirmed := make(chan struct{}, 1)
	for {
		select {
		case asked, open := <-a.transfers:
			if !open {
				ended <- struct{}{}
				return
			}
			a.tally.received++
			a.balance -= asked.amount
			asked.destination.deposits <- deposit{asked.amount, confirmed}
			a.tally.sent++
			<-confirmed
			a.tally.received++
			done <- struct{}{}
			a.tally.sent++
		case asked := <-a.deposits:
			a.tally.received++
			a.balance += asked.amount
			asked.confirmed <- struct{}{}
			a.tally.sent++
		}
	}
}

func logisticMap(p params) sample {
	series, terms, reps := p.number("series"), p.number("terms"), p.number("reps")
	elapsed, all, sum := time.Duration(0), tally{}, int64(0)
	for i := int64(0); i < reps; i++ {
		start := time.Now()
		workers := make([]chan struct{}, series)
		results := make(chan float64, series)
		counted := make(chan tally, 2*series)
		for i := range workers {
			rate, start := float64(1384+i)/400, float64(i+1)/400
			workers[i] = make(chan struct{}, room)
			requests, replies := make(chan float64, 1), make(chan float64, 1)
			go computeTerms(rate, requests, replies, counted)
			go advance(start, workers[i], requests, replies, results, counted)
		}
		for term := int64(0); term < terms; term++ {
			for _, worker := range workers {
				worker <- struct{}{}
				all.sent++
			}
		}
		for _, worker := range workers {
			close(worker)
		}
		for range workers {
			sum += int64(<-results * 1e9)
		}
		elapsed += time.Since(start)

		for i := int64(0); i < 2*series; i++ {
			all.add(<-counted)
		}
	}
	return sample{elapsed, series * terms * reps, all.sent, all.received, map[string]int64{"sum": sum}}
}

// advance asks for the next term on each message, and returns the last one when its channel is closed.
func advance(x float64, mailbox <-chan struct{}, requests chan<- float64, replies <-chan float64, results chan<- float64, counted chan<- tally) {
	var own tally
	for range mailbox {
		own.received++
		requests <- x
		own.sent++
		x = <-replies
		own.received++
	}
	close(requests)
	results <- x
	counted <- own
}

// computeTerms replies to each term with the next one.
func computeTerms(rate float64, requests <-chan float64, replies chan<- float64, counted chan<- tally) {
	var own tally
	for x := range requests {
		own.received++
		replies <- rate * x * (1 - x)
		own.sent++
	}
	counted <- own
}

// filtered is the report of a filter: its primes, and the candidates that ended there. The last filter of the chain is
// last.
type filtered struct {
	primes, ended int64
	last          bool
}

func sieve(p params) sample {
	n, local, reps := p.number("n"), p.number("local"), p.number("reps")
	elapsed, sent, ended, primes := time.Duration(0), int64(0), int64(0), int64(0)
	for i := int64(0); i < reps; i++ {
		start := time.Now()
		first, reports := make(chan int64, room), make(chan filtered)
		go filter(2, local, first, reports)
		for candidate := int64(3); candidate <= n; candidate += 2 {
			first <- candidate
			sent++
		}
		close(first)
		// A filter closes the channel of the next one after its report, so the last one reports last.
		for last := false; !last; {
			report := <-reports
			primes, ended, last = primes+report.primes, ended+report.ended, report.last
		}
		elapsed += time.Since(start)
	}
	return sample{elapsed, (n - 1) / 2 * reps, sent, ended, map[string]int64{"primes": primes}}
}

// filter keeps primes, and passes on the candidates that none of them divides.
func filter(first, local int64, mailbox <-chan int64, reports chan<- filtered) {
	primes := []int64{first}
	var next chan int64
	ended := int64(0)
	for candidate := range mailbox {
		switch {
		case divides(primes, candidate):
			ended++
		case next != nil:
			next <- candidate
		case int64(len(primes)) < local:
			primes = append(primes, candidate)
			ended++
		default:
			next = make(chan int64, room)
			go filter(candidate, local, next, reports)
			ended++
		}
	}
	reports <- filtered{int64(len(primes)), ended, next == nil}
	if next != nil {
		close(next)
	}
}

func divides(primes []int64, candidate int64) bool {
	for _, prime := range primes {
		if candidate%prime == 0 {
			return true
		}
	}
	return false
}

// ping is a message between the members of big: a ping with the number of its sender, or a pong.
type ping struct {
	from int32
	pong bool
}

func big(p params) sample {
	processes, n := p.number("processes"), p.number("n")

	start := time.Now()
	members := make([]chan ping, processes)
	for i := range members {
		// Each member has at most one ping on its way, and at most one pong: no sender waits.
		members[i] = make(chan ping, processes+1)
	}
	done, counted := make(chan struct{}), make(chan tally, processes)
	for i := range members {
		go member(int64(i), n, members, done, counted)
	}
	for range members {
		<-done
	}
	elapsed := time.Since(start)

	// All pings are answered: no member sends any more.
	for _, mailbox := range members {
		close(mailbox)
	}
	var all tally
	for range members {
		all.add(<-counted)
	}
	return sample{elapsed, processes * n, all.sent, all.received, nil}
}

// member pings others, the next when the last is answered, and answers their pings until its channel is closed.
func member(number, n int64, members []chan ping, done chan<- struct{}, counted chan<- tally) {
	var own tally
	draw, left := stream(number), n
	pingNext := func() {
		if left == 0 {
			done <- struct{}{}
			return
		}
		left--
		members[draw.below(int64(len(members)))] <- ping{from: int32(number)}
		own.sent++
	}
	pingNext()
	for message := range members[number] {
		own.received++
		if message.pong {
			pingNext()
		} else {
			members[message.from] <- ping{pong: true}
			own.sent++
		}
	}
	counted <- own
}
