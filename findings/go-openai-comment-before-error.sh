#!/bin/sh
# github.com/sashabaranov/go-openai v1.43.0 (Go): a comment in a stream, such as the lines that keep a slow answer's connection open, makes
# a later error of the same stream unreadable. Recv keeps every line that is not data for a message of an error, so that the error's JSON
# begins with the comment: the caller gets a *json.SyntaxError in place of the *APIError, without message, type and code, and cannot tell
# a rate limit from a broken server. A line `event: error` before the data does the same. Comments before pieces of the answer do no harm.
#
# Seen: "error: Slow down. rate_limit_exceeded", "comment, then error: unexpected end of JSON input" and the same for "named error".
# Exits with 1 when that changes. Needs Go 1.24 or later.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > main.go <<'GO'
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

const piece = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"}}]}`
const failure = `data: {"error":{"message":"Slow down.","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}`

func serve(writer http.ResponseWriter, request *http.Request) {
	writer.Header().Set("content-type", "text/event-stream")
	before := map[string]string{"comment": ": keep-alive\n\n", "named": "event: error\n"}
	events := []string{piece, before[strings.Split(request.URL.Path, "/")[1]] + failure, "data: [DONE]"}
	fmt.Fprint(writer, strings.Join(events, "\n\n")+"\n\n")
}

// The error that ends the stream.
func ask(url string) string {
	config := openai.DefaultConfig("k")
	config.BaseURL = url
	message := openai.ChatCompletionMessage{Role: "user", Content: "Go."}
	request := openai.ChatCompletionRequest{Model: "m", Messages: []openai.ChatCompletionMessage{message}}
	stream, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(context.Background(), request)
	if err != nil {
		return err.Error()
	}
	defer stream.Close()
	for {
		_, err := stream.Recv()
		var known *openai.APIError
		switch {
		case errors.Is(err, io.EOF):
			return "no error"
		case errors.As(err, &known):
			return fmt.Sprintf("%s %v", known.Message, known.Code)
		case err != nil:
			return err.Error()
		}
	}
}

func main() {
	server := httptest.NewServer(http.HandlerFunc(serve))
	defer server.Close()
	seen := []string{
		"error: " + ask(server.URL+"/plain/v1"),
		"comment, then error: " + ask(server.URL+"/comment/v1"),
		"named error: " + ask(server.URL+"/named/v1"),
	}
	wanted := []string{
		"error: Slow down. rate_limit_exceeded",
		"comment, then error: unexpected end of JSON input",
		"named error: unexpected end of JSON input",
	}
	fmt.Println(strings.Join(seen, "\n"))
	if !slices.Equal(seen, wanted) {
		os.Exit(1)
	}
}
GO
go mod init finding >/dev/null 2>&1
go get github.com/sashabaranov/go-openai@v1.43.0 >/dev/null 2>&1
timeout 300 go run .
