package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Limits of the parameters, as defined by the contender protocol.
const (
	countMax     = 1_000_000_000_000
	processesMax = 100_000_000
	repsMax      = 1_000_000
	lengthMax    = 1_000_000
	waitingMax   = 10_000_000
	hogsMax      = 1000
	msMax        = 600_000
)

// experiment is an experiment's name, its parameters and the function that runs it.
type experiment struct {
	id     string
	params []param
	run    func(params) sample
}

// param is an integer parameter with a range, or an enumeration of words.
type param struct {
	name     string
	from, to int64
	words    []string
	// Default value; empty if the parameter is mandatory, or optional without a default.
	natural  string
	optional bool
}

// params holds the parameters of one run, complete and within their ranges.
type params struct {
	numbers map[string]int64
	words   map[string]string
}

func (p params) number(name string) int64 { return p.numbers[name] }
func (p params) word(name string) string  { return p.words[name] }

// sample is the result of one run.
type sample struct {
	elapsed             time.Duration
	ops, sent, received int64
	more                map[string]int64
}

func (s sample) answer() answer {
	reply := answer{"elapsed_ns": s.elapsed.Nanoseconds(), "ops": s.ops, "sent": s.sent, "received": s.received}
	for name, value := range s.more {
		reply[name] = value
	}
	return reply
}

func number(name string, from, to int64) param { return param{name: name, from: from, to: to} }

// group is a number of processes that call another, each returns that of the operations of one of them.
func group(name string, from int64) param { return number(name, from, groupMax) }
func each(name string) param              { return number(name, 0, operationsEachMax) }

var (
	count     = number("n", 0, countMax)
	someCount = number("n", 1, countMax)
	processes = number("processes", 1, processesMax)
	reps      = param{name: "reps", from: 1, to: repsMax, natural: "1"}
	exchanges = []param{count, number("pieces", 1, countMax), number("work", 0, countMax), reps}
	payloads  = append([]param{number("s", 0, lengthMax)}, exchanges...)
)

// lifetimes are the lifetimes of the goroutines of fork-join, the natural one first.
var lifetimes = []string{"ending", "alive"}

var experiments = []experiment{
	{"call-vs-send", []param{{name: "mode", words: []string{"local", "remote"}}, count}, callVsSend},
	{"tail-call", []param{count, reps}, tailCall},
	{"spawn-chain", []param{someCount, reps}, spawnChain},
	{"exchange", exchanges, exchange},
	{"message-size", payloads, exchangeCopied},
	{"bandwidth", payloads, exchangeCopied},
	{"message-moved", payloads, exchangeMoved},
	{"serial-spawn", []param{number("m", 1, processesMax), number("total", 1, countMax)}, serialSpawn},
	{"ping-pong", []param{count}, pingPong},
	{"throughput", []param{count}, throughput},
	{"fan-in", []param{number("senders", 1, processesMax), count}, fanIn},
	{"thread-ring", []param{processes, someCount}, threadRing},
	{"fork-join", []param{number("n", 0, processesMax), {name: "variant", words: lifetimes, natural: lifetimes[0]}}, forkJoin},
	{"skynet", []param{number("leaves", 1, processesMax)}, skynet},
	{"fan-out", []param{processes, count}, fanOut},
	{"call", []param{count}, call},
	{"timers", []param{number("window", 1, waitingMax), count}, timers},
	{"timer-expiry", []param{number("n", 1, waitingMax), number("after_ms", 0, msMax), number("spread_ms", 0, msMax)}, timerExpiry},
	{"idle-memory", []param{number("n", 0, processesMax)}, idleMemory},
	{"hog", []param{{name: "loop", words: []string{"open", "closed"}}, number("hogs", 0, hogsMax), number("ms", 1, msMax)}, hog},
	{"banking", []param{number("accounts", 2, crowdMax), number("n", 0, operationsMax), reps}, banking},
	{"bounded-buffer", []param{group("producers", 1), group("consumers", 1), number("capacity", 2, 1_000_000), number("cost", 0, 1_000_000), each("n")}, boundedBuffer},
	{"chameneos", []param{number("creatures", 2, crowdMax), number("n", 0, operationsMax)}, chameneos},
	{"dictionary", []param{group("workers", 1), number("writes", 0, 100), each("n")}, dictionary},
	{"logistic-map", []param{group("series", 1), each("terms"), reps}, logisticMap},
	{"philosophers", []param{group("philosophers", 2), each("n")}, philosophers},
	{"sieve", []param{number("n", 2, 10_000_000), number("local", 1, 1_000_000), reps}, sieve},
	{"big", []param{number("processes", 1, crowdMax), number("n", 0, operationsMax)}, big},
	{"spread", []param{group("processes", 1), each("n"), number("us", 1, 1_000_000)}, spread},
}

// check parses and validates a request to run an experiment. It returns the experiment's function
// and the parameters.
func check(request map[string]json.RawMessage) (func(params) sample, params, error) {
	var id string
	if err := json.Unmarshal(request["experiment"], &id); err != nil {
		return nil, params{}, errors.New(`"experiment" must be a string, and be there`)
	}
	raw, there := request["seed"]
	if there && !within(raw, 0, math.MaxInt64) {
		return nil, params{}, fmt.Errorf(`"seed" must be a non-negative integer, not %s`, shown(raw))
	}
	// Without a seed it is 0.
	seed, _ := strconv.ParseInt(string(raw), 10, 64)
	given, err := object(request)
	if err != nil {
		return nil, params{}, err
	}
	known := []string{}
	for _, one := range experiments {
		if one.id == id {
			read, err := one.read(given)
			if err != nil {
				err = fmt.Errorf("%s: %w", id, err)
			}
			read.numbers["seed"] = seed
			return one.run, read, err
		}
		known = append(known, one.id)
	}
	return nil, params{}, fmt.Errorf("unknown experiment %s; this contender knows %s", shown(request["experiment"]), strings.Join(known, ", "))
}

// object returns the parameters of a request as they were written.
func object(request map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	given := map[string]json.RawMessage{}
	if raw, there := request["params"]; there {
		if err := json.Unmarshal(raw, &given); err != nil {
			return nil, fmt.Errorf(`"params" must be an object, not %s`, shown(raw))
		}
	}
	return given, nil
}

func within(raw []byte, from, to int64) bool {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil && n >= from && n <= to
}

func (e experiment) read(given map[string]json.RawMessage) (params, error) {
	read := params{map[string]int64{}, map[string]string{}}
	names := []string{}
	for _, one := range e.params {
		names = append(names, one.name)
		if err := one.read(given, read); err != nil {
			return read, err
		}
		delete(given, one.name)
	}
	for other := range given {
		return read, fmt.Errorf("unknown parameter %s; it takes %s", shown([]byte(strconv.Quote(other))), strings.Join(names, ", "))
	}
	return read, e.whole(read)
}

func (p param) read(given map[string]json.RawMessage, into params) error {
	raw, there := given[p.name]
	if !there && p.optional {
		return nil
	}
	if len(p.words) == 0 {
		if !there {
			raw = []byte(p.natural)
		}
		if !within(raw, p.from, p.to) {
			return fmt.Errorf("parameter %q must be an integer from %d to %d, %s", p.name, p.from, p.to, instead(raw))
		}
		into.numbers[p.name], _ = strconv.ParseInt(string(raw), 10, 64)
		return nil
	}
	word := p.natural
	if there && json.Unmarshal(raw, &word) != nil {
		word = ""
	}
	for _, known := range p.words {
		if word == known {
			into.words[p.name] = word
			return nil
		}
	}
	return fmt.Errorf("parameter %q must be %s, %s", p.name, strings.Join(p.words, " or "), instead(raw))
}

func instead(raw []byte) string {
	if len(raw) == 0 {
		return "and is missing"
	}
	return "not " + shown(raw)
}

// whole checks constraints that a range cannot express.
func (e experiment) whole(p params) error {
	switch e.id {
	case "serial-spawn":
		if m, total := p.number("m"), p.number("total"); m > total {
			return fmt.Errorf("m is %d, more than the total of %d", m, total)
		}
	case "skynet":
		left := p.number("leaves")
		for left%children == 0 {
			left /= children
		}
		if left != 1 {
			return fmt.Errorf("leaves is %d, not a power of ten", p.number("leaves"))
		}
	case "bounded-buffer":
		if capacity, producers := p.number("capacity"), p.number("producers"); capacity <= producers {
			return fmt.Errorf("capacity is %d, not more than the %d producers", capacity, producers)
		}
	case "message-size", "bandwidth", "message-moved":
		if s := p.number("s"); s > 0 && 2*p.number("n")*p.number("reps") > math.MaxInt64/s {
			return errors.New("2·n·s·reps elements are more than can be counted; lower one of them")
		}
	}
	return nil
}
