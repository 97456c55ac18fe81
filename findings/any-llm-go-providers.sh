#!/bin/sh
# any-llm-go v0.8.0 (Mozilla.ai), one interface for many vendors:
# - WithBaseURL, which its providers for OpenAI and Anthropic obey, is ignored by the one for Gemini: prompts, and the key for a gateway, go
#   to Google. GOOGLE_GEMINI_BASE_URL works.
# - Streamed calls come in two forms that chunks do not tell apart. OpenAI: pieces, the later ones without id and without the `index` that
#   Chat Completions number them by, so nobody can say whose they are when calls stream in turns. Anthropic: every chunk repeats the call
#   so far. Whoever appends has `{"a"{"a":1}` from Anthropic, whoever replaces has the last piece alone from OpenAI.
# - Gemini's calls get random ids in place of Google's, and no thought signature, which Google wants back.
# - Every 400 of Anthropic with the letters "token" is a ContextLengthError, also one about `max_tokens`, which no shorter prompt mends.
#
# Seen: the lines in `wanted` below. Exits with 1 when that changes. Needs Go 1.25 or later.
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

	anyllm "github.com/mozilla-ai/any-llm-go"
	anyerrors "github.com/mozilla-ai/any-llm-go/errors"
	"github.com/mozilla-ai/any-llm-go/providers/anthropic"
	"github.com/mozilla-ai/any-llm-go/providers/gemini"
	"github.com/mozilla-ai/any-llm-go/providers/openai"
)

// What the vendor of each path streams: two calls in Chat, one in Messages.
var chat = []string{
	`{"index":0,"id":"c0","type":"function","function":{"name":"look","arguments":""}}`,
	`{"index":1,"id":"c1","type":"function","function":{"name":"look","arguments":""}}`,
	`{"index":0,"function":{"arguments":"{\"a\""}}`,
	`{"index":1,"function":{"arguments":"{\"b\""}}`,
	`{"index":0,"function":{"arguments":":1}"}}`,
	`{"index":1,"function":{"arguments":":2}"}}`,
}

var messages = []string{
	`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":1}}}`,
	`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t0","name":"look","input":{}}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\""}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":":1}"}}`,
	`{"type":"content_block_stop","index":0}`,
	`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}}`,
	`{"type":"message_stop"}`,
}

const generated = `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"g0","name":"look","args":{"a":1}},"thoughtSignature":"c2ln"}]},` +
	`"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":3,"totalTokenCount":8},"modelVersion":"m","responseId":"r"}`

const tooMany = `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for m"}}`

func answer(writer http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	if strings.Contains(request.URL.Path, "generateContent") {
		writer.Header().Set("content-type", "application/json")
		fmt.Fprint(writer, generated)
		return
	}
	isMessages := strings.Contains(request.URL.Path, "messages")
	if isMessages && strings.Contains(string(body), "9000") {
		writer.Header().Set("content-type", "application/json")
		writer.WriteHeader(400)
		fmt.Fprint(writer, tooMany)
		return
	}
	writer.Header().Set("content-type", "text/event-stream")
	if isMessages {
		for _, event := range messages {
			fmt.Fprintf(writer, "event: %s\ndata: %s\n\n", strings.Split(event, `"`)[3], event)
		}
		return
	}
	for index, call := range append(chat, "") {
		end := "null"
		if index == len(chat) {
			end = `"tool_calls"`
		}
		fmt.Fprintf(writer, `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[%s]},"finish_reason":%s}]}`+"\n\n", call, end)
	}
	fmt.Fprint(writer, "data: [DONE]\n\n")
}

// watched sends every request to the server of this test, whatever host it is for, and keeps that host.
type watched struct {
	to    string
	hosts []string
}

func (w *watched) RoundTrip(request *http.Request) (*http.Response, error) {
	w.hosts = append(w.hosts, request.URL.Hostname())
	request.URL.Scheme, request.URL.Host = "http", w.to
	return http.DefaultTransport.RoundTrip(request)
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return value
}

func streamed(provider anyllm.Provider) string {
	asked := anyllm.CompletionParams{Model: "m", Messages: []anyllm.Message{{Role: anyllm.RoleUser, Content: "Look."}}}
	chunks, failed := provider.CompletionStream(context.Background(), asked)
	seen := []string{}
	for chunk := range chunks {
		for _, choice := range chunk.Choices {
			for _, call := range choice.Delta.ToolCalls {
				seen = append(seen, call.ID+"/"+call.Function.Name+"/"+call.Function.Arguments)
			}
		}
	}
	must(0, <-failed)
	return strings.Join(seen, " ")
}

func main() {
	server := httptest.NewServer(http.HandlerFunc(answer))
	defer server.Close()
	ctx := context.Background()
	asked := anyllm.CompletionParams{Model: "m", Messages: []anyllm.Message{{Role: anyllm.RoleUser, Content: "Look."}}}
	key, url := anyllm.WithAPIKey("k"), anyllm.WithBaseURL(server.URL)
	claude := must(anthropic.New(key, url))
	watch := &watched{to: strings.TrimPrefix(server.URL, "http://")}
	google := must(gemini.New(key, url, anyllm.WithHTTPClient(&http.Client{Transport: watch})))
	called := must(google.Completion(ctx, asked)).Choices[0].Message.ToolCalls
	limit := 9000
	asked.MaxTokens = &limit
	_, refused := claude.Completion(ctx, asked)
	var isTooLong *anyerrors.ContextLengthError
	seen := []string{
		"gemini asks " + strings.Join(watch.hosts, " "),
		fmt.Sprintf("gemini keeps the id of its call: %t", len(called) == 1 && called[0].ID == "g0"),
		"openai: " + streamed(must(openai.New(key, url))),
		"anthropic: " + streamed(claude),
		fmt.Sprintf("max_tokens too large is a ContextLengthError: %t", errors.As(refused, &isTooLong)),
	}
	wanted := []string{
		"gemini asks generativelanguage.googleapis.com",
		"gemini keeps the id of its call: false",
		`openai: c0/look/ c1/look/ //{"a" //{"b" //:1} //:2}`,
		`anthropic: t0/look/{"a" t0/look/{"a":1}`,
		"max_tokens too large is a ContextLengthError: true",
	}
	fmt.Println(strings.Join(seen, "\n"))
	if !slices.Equal(seen, wanted) {
		os.Exit(1)
	}
}
GO
go mod init finding >/dev/null 2>&1
go get github.com/mozilla-ai/any-llm-go@v0.8.0 >/dev/null 2>&1
go mod tidy >/dev/null 2>&1
timeout 900 go run .
