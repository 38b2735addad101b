// Command sidecar is a stand-in for the image that workerd puts beside every container on a local Docker engine.
//
// workerd reaches a container only through its sidecar, whose network namespace the container joins. The public
// image (cloudflare/proxy-everything) needs a registry; this one serves what a rehearsal uses of it: tunnels into the
// container. It does not intercept what the container sends out, which takes Docker's ordinary network.
package main

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	// addressFlag is the one of workerd's flags that matters here; the others configure interception.
	addressFlag    = "--http-ingress-address"
	defaultAddress = "0.0.0.0:39001"
	dialTimeout    = 10 * time.Second
)

func main() {
	go stopOnSignal()
	server := &http.Server{
		Addr:              address(os.Args[1:]),
		Handler:           http.HandlerFunc(serve),
		ReadHeaderTimeout: 10 * time.Second,
	}
	log.Printf("sidecar listens on %s", server.Addr)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}

// stopOnSignal ends the process: the kernel shields a container's first process from signals without a handler.
func stopOnSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	<-signals
	os.Exit(0)
}

func address(args []string) string {
	for index, arg := range args {
		if arg == addressFlag && index+1 < len(args) {
			return args[index+1]
		}
	}
	return defaultAddress
}

func serve(response http.ResponseWriter, request *http.Request) {
	switch {
	case request.Method == http.MethodConnect:
		tunnel(response, request)
	// workerd sends its interception rules before the container starts, and asks for the authority that signs
	// intercepted TLS. Without interception there are neither rules to keep nor an authority.
	case request.Method == http.MethodPut && request.URL.Path == "/egress",
		request.Method == http.MethodGet && request.URL.Path == "/ca":
		_, _ = io.Copy(io.Discard, request.Body)
		response.WriteHeader(http.StatusOK)
	default:
		http.NotFound(response, request)
	}
}

// tunnel joins the caller to a port of the container. 400 tells workerd that nothing listens there yet.
func tunnel(response http.ResponseWriter, request *http.Request) {
	host, port, err := net.SplitHostPort(request.Host)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		http.Error(response, "only ports of this container can be reached", http.StatusForbidden)
		return
	}
	target, err := net.DialTimeout("tcp", net.JoinHostPort(host, port), dialTimeout)
	if err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	defer target.Close()

	caller, buffered, err := http.NewResponseController(response).Hijack()
	if err != nil {
		http.Error(response, err.Error(), http.StatusInternalServerError)
		return
	}
	defer caller.Close()
	// The deadline for headers would otherwise end the tunnel.
	_ = caller.SetDeadline(time.Time{})
	if _, err := io.WriteString(caller, "HTTP/1.1 200 Connection Established\r\n\r\n"); err != nil {
		return
	}

	done := make(chan struct{}, 2)
	// What came right behind the request's head is in the buffer already, so it is read from there.
	go join(target, buffered, done)
	go join(caller, target, done)
	<-done
	<-done
}

// join copies one direction to its end and passes the end on, leaving the other direction open.
func join(to net.Conn, from io.Reader, done chan<- struct{}) {
	_, err := io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite()
	} else {
		_ = to.Close()
	}
	done <- struct{}{}
}
