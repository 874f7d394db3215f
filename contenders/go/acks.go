package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Ack servers: ack-request-reply to ack-best and ack-sync-or-async. A server accepts connections
// and serves each in a goroutine. A strategy reads from a connection, writes acks, and returns the
// number of acknowledged messages when the connection has ended. acks_direct.go has those with one
// goroutine per connection, acks_helped.go those with several, acks_wire.go the wire format.

// silence is how long a client may stay idle, or leave its acks unread.
const silence = 5 * time.Second

// coresMax bounds the number of cores of a request, as defined by the contender protocol.
const coresMax = 1024

// strategy serves a connection and returns the number of acknowledged messages.
type strategy func(*connection) int64

// served is an experiment with a server. With variants, the natural one is first, and strategies
// has one for each.
type served struct {
	id         string
	variants   []string
	strategies []strategy
}

var servers = []served{
	{"ack-request-reply", nil, []strategy{requestReply}},
	{"ack-throttle", nil, []strategy{throttle}},
	{"ack-head-rest", nil, []strategy{headRest}},
	{"ack-sync-ack", nil, []strategy{syncAck(blockUsual)}},
	{"ack-async-ack", nil, []strategy{asyncAck}},
	{"ack-best", []string{"batch", "each"}, []strategy{syncAck(blockLarge), bestEach}},
	{"ack-sync-or-async", []string{"sync-ack", "async-ack"}, []strategy{syncAck(blockUsual), asyncAck}},
}

// server is a running server.
type server struct {
	listener *net.TCPListener
	serve    strategy
	// processors is the GOMAXPROCS to restore; 0 if the request did not set it.
	processors int

	mutex        sync.Mutex
	open         map[*connection]struct{}
	stopped      bool
	serving      sync.WaitGroup
	acknowledged atomic.Int64
}

// running is the server from serve to stop, or nil.
var running *server

// serveRequest starts the server that a request asks for.
func serveRequest(request map[string]json.RawMessage) (answer, error) {
	serve, cores, err := checkServe(request)
	if err != nil {
		return nil, err
	}
	if running != nil {
		return nil, errors.New("a server is running already; stop it first")
	}
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("the server cannot be started: %w", err)
	}
	running = &server{listener: listener, serve: serve, open: map[*connection]struct{}{}}
	if cores > 0 {
		running.processors = runtime.GOMAXPROCS(int(cores))
	}
	running.serving.Add(1)
	go running.accept()
	return answer{"address": listener.Addr().String()}, nil
}

// checkServe parses a request for a server. It returns the strategy and the number of cores or 0.
func checkServe(request map[string]json.RawMessage) (strategy, int64, error) {
	var id string
	if err := json.Unmarshal(request["experiment"], &id); err != nil {
		return nil, 0, errors.New(`"experiment" must be a string, and be there`)
	}
	known := []string{}
	for _, one := range servers {
		if one.id != id {
			known = append(known, one.id)
			continue
		}
		read, err := one.read(request)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", id, err)
		}
		chosen := 0
		for at, name := range one.variants {
			if name == read.word("variant") {
				chosen = at
			}
		}
		return one.strategies[chosen], read.number("cores"), nil
	}
	return nil, 0, fmt.Errorf("unknown experiment %s; this contender serves %s", shown(request["experiment"]), strings.Join(known, ", "))
}

// read parses and validates the parameters.
func (s served) read(request map[string]json.RawMessage) (params, error) {
	wanted := experiment{id: s.id, params: []param{{name: "cores", from: 1, to: coresMax, optional: true}}}
	if len(s.variants) > 0 {
		wanted.params = append(wanted.params, param{name: "variant", words: s.variants, natural: s.variants[0]})
	}
	given, err := object(request)
	if err != nil {
		return params{}, err
	}
	return wanted.read(given)
}

// stopRequest stops the server. It returns the number of acknowledged messages after everything
// that was read is acknowledged and all connections are closed.
func stopRequest() (answer, error) {
	if running == nil {
		return nil, errors.New("no server is running")
	}
	s := running
	running = nil
	s.listener.Close()
	s.mutex.Lock()
	s.stopped = true
	for open := range s.open {
		// A read then returns what the kernel has, and after that the end of the stream.
		open.CloseRead()
	}
	s.mutex.Unlock()
	s.serving.Wait()
	if s.processors > 0 {
		runtime.GOMAXPROCS(s.processors)
	}
	return answer{"received": s.acknowledged.Load()}, nil
}

func (s *server) accept() {
	defer s.serving.Done()
	for {
		stream, err := s.listener.AcceptTCP()
		switch {
		case err == nil:
			// TCP_NODELAY is Go's default.
			s.start(&connection{TCPConn: stream, heard: time.Now()})
		case errors.Is(err, net.ErrClosed):
			return
		default:
			// Mostly no descriptor is free.
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func (s *server) start(stream *connection) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.stopped {
		stream.Close()
		return
	}
	s.open[stream] = struct{}{}
	s.serving.Add(1)
	go func() {
		defer s.serving.Done()
		s.acknowledged.Add(s.serve(stream))
		s.mutex.Lock()
		delete(s.open, stream)
		s.mutex.Unlock()
		stream.Close()
	}()
}

// connection is a connection with the timeouts of the protocol. One goroutine may read while
// another writes.
type connection struct {
	*net.TCPConn
	// heard is the time of the last read.
	heard time.Time
	// ack is the buffer of acknowledge.
	ack [headSize]byte
}

// Read reads available data. A deadline that expires is moved if the client was not idle: to set
// one for each read would cost more.
func (c *connection) Read(into []byte) (int, error) {
	for {
		read, err := c.TCPConn.Read(into)
		switch {
		case read > 0:
			c.heard = time.Now()
			return read, nil
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return 0, err
		case time.Since(c.heard) >= silence:
			return 0, err
		}
		if err := c.SetReadDeadline(c.heard.Add(silence)); err != nil {
			return 0, err
		}
	}
}

// Write writes all bytes. The deadline may be that of an earlier write; it is then moved once.
func (c *connection) Write(bytes []byte) (int, error) {
	written, err := c.TCPConn.Write(bytes)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if err := c.SetWriteDeadline(time.Now().Add(silence)); err != nil {
			return written, err
		}
		var more int
		more, err = c.TCPConn.Write(bytes[written:])
		written += more
	}
	return written, err
}
