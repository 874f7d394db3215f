// Command contender-go is the Go contender of the lab: goroutines and channels, standard library
// only.
//
//	go build -o contender-go . && ./contender-go
//	{"op":"run","experiment":"ping-pong","params":{"n":100000}}
//
// This file reads requests and writes answers; params.go validates parameters; the experiments are
// in calls.go, messages.go, asking.go, exchange.go, processes.go, idle.go, timers.go, hog.go,
// savina.go and savina_calls.go, the ack servers in acks.go. The
// program changes no runtime setting: GOMAXPROCS, GOGC, GOMEMLIMIT and GODEBUG apply as usual.
// Before the clock of each run starts, runtime.GC collects the garbage of the previous run.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"unicode/utf8"
)

// lineMax is the maximum length of a request line in bytes, including the newline.
const lineMax = 1 << 20

// answer holds the fields of one line of output.
type answer map[string]any

func main() {
	input := bufio.NewReaderSize(os.Stdin, lineMax)
	for {
		line, err := input.ReadSlice('\n')
		var reply answer
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if !skipLine(input) {
				return
			}
			reply = refusal(fmt.Errorf("the line is longer than %d bytes", lineMax))
		case err != nil && len(line) == 0:
			return
		default:
			reply = handle(line)
			if reply == nil {
				return
			}
		}
		if !tell(reply) {
			os.Exit(1)
		}
	}
}

// skipLine discards the rest of a line that is too long. It returns false at the end of the input.
func skipLine(input *bufio.Reader) bool {
	for {
		switch _, err := input.ReadSlice('\n'); {
		case err == nil:
			return true
		case !errors.Is(err, bufio.ErrBufferFull):
			return false
		}
	}
}

func tell(reply answer) bool {
	text, err := json.Marshal(reply)
	if err != nil {
		fmt.Fprintln(os.Stderr, "contender-go: the answer is no JSON:", err)
		return false
	}
	_, err = os.Stdout.Write(append(text, '\n'))
	return err == nil
}

func refusal(err error) answer { return answer{"error": err.Error()} }

// handle answers a request. It returns nil if the request is to quit.
func handle(line []byte) answer {
	if !utf8.Valid(line) {
		return refusal(errors.New("the line is not UTF-8"))
	}
	var request map[string]json.RawMessage
	if err := json.Unmarshal(line, &request); err != nil {
		return refusal(fmt.Errorf("not a JSON object in one line: %w", err))
	}
	var op string
	if err := json.Unmarshal(request["op"], &op); err != nil {
		return refusal(errors.New(`a request has an "op": "hello", "run", "serve", "stop" or "quit"`))
	}
	switch op {
	case "hello":
		return hello()
	case "quit":
		return nil
	case "run":
		run, given, err := check(request)
		if err != nil {
			return refusal(err)
		}
		runtime.GC()
		return run(given).answer()
	case "serve":
		return orRefusal(serveRequest(request))
	case "stop":
		return orRefusal(stopRequest())
	}
	return refusal(fmt.Errorf(`unknown op %s; this contender knows "hello", "run", "serve", "stop" and "quit"`, shown(request["op"])))
}

func orRefusal(reply answer, err error) answer {
	if err != nil {
		return refusal(err)
	}
	return reply
}

func hello() answer {
	names := []string{}
	for _, one := range experiments {
		names = append(names, one.id)
	}
	of := map[string][]string{"fork-join": lifetimes}
	for _, one := range servers {
		names = append(names, one.id)
		if len(one.variants) > 0 {
			of[one.id] = one.variants
		}
	}
	return answer{
		"name":        "go",
		"version":     runtime.Version(),
		"os_pid":      os.Getpid(),
		"experiments": names,
		"variants":    of,
		"notes": []string{
			fmt.Sprintf("goroutines on GOMAXPROCS of %d, as the runtime chose it or the environment says; the collector is what users get, and runs once before each clock", runtime.GOMAXPROCS(0)),
			"no isolation: what is sent is shared unless it is copied, a goroutine that panics ends the program, and none can be ended from outside",
			fmt.Sprintf("a mailbox is a channel, and no channel is unbounded: a sender to a full one waits. Its capacity is %d messages, %d for each receiver of fan-out, and one where at most one message is in flight (ping-pong, thread-ring, call)", room, roomEach),
			fmt.Sprintf("exchange, message-size, bandwidth, message-moved: a capacity of n messages, at most %d, so that the two do not deadlock; beyond that, a sender that finds the channel full receives its own messages in the meantime", roomExchange),
			"fork-join: a channel with room for all reports, made within the clock, and in the variant alive a channel that is closed when all goroutines are started; idle-memory: a goroutine with a channel of its own without room",
			"message-moved: the receiver gets the slice itself; message-size, bandwidth: the sender copies it first, into one from a sync.Pool, where the receiver puts those that it has received",
			"a call is a request with a reply channel, and a select with a time.Timer of five seconds; a timer is time.AfterFunc with a function that sends, Stop, and Reset, which sets it again",
			"there are no tail calls: n calls of a function that is not inlined count down, in a loop",
			fmt.Sprintf("Savina programs: a channel for each kind of message, with capacity for all that can be on their way, but %d transfers per account, %d messages per worker of logistic-map and %d candidates per filter of the sieve; the manager of bounded-buffer selects over an unbuffered channel for each direction; a dictionary would usually be a map under a lock, and is one that a goroutine owns", roomEach, room, room),
			"hog: goroutines are preempted by the runtime; a goroutine that sleeps until each trip is due starts the open loop",
			"servers: a goroutine for each connection, package net, buffers that are used again; one write for each ack; for a requested number of cores they set GOMAXPROCS",
			"there is no mailbox of several kinds, hence no call-deep, reply-deep and selective; a goroutine's end is not reported, hence no monitor-churn, link-churn, exit-cascade and restart; it cannot be sent an exit signal, hence no signals",
		},
	}
}

// shown returns a value as it was written, truncated to 60 characters: an invalid value may be
// almost as long as the longest line.
func shown(raw []byte) string {
	const most = 60
	signs := []rune(string(bytes.TrimSpace(raw)))
	if len(signs) > most {
		return string(signs[:most]) + "…"
	}
	return string(signs)
}
