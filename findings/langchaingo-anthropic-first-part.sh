#!/bin/sh
# github.com/tmc/langchaingo v0.1.14 (Go), llms/anthropic: of an assistant message with a text and calls, which is how Claude calls tools,
# the text is sent and every call is left out; of a tool message with two results, the first is sent. No error is returned, though Claude
# then gets a result of a call that it never made. The same messages by llms/openai have both calls; two results in one message are an
# error there.
#
# Seen: "anthropic: text | tool_result" of a text, two calls and two results, and "openai: text, 2 calls | 1 result | 1 result" of the same
# with a message for each result. Exits with 1 when that changes. Needs Go 1.24 or later.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > main.go <<'GO'
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/openai"
)

type message struct {
	Role      string            `json:"role"`
	Content   json.RawMessage   `json:"content"`
	ToolCalls []json.RawMessage `json:"tool_calls"`
}

const anthropicAnswer = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Done."}],
"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`
const openaiAnswer = `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop",
"message":{"role":"assistant","content":"Done."}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`

var arrived []message

func serve(writer http.ResponseWriter, request *http.Request) {
	var body struct{ Messages []message }
	if err := json.NewDecoder(request.Body).Decode(&body); err != nil {
		panic(err)
	}
	arrived = body.Messages
	writer.Header().Set("content-type", "application/json")
	if strings.HasSuffix(request.URL.Path, "/chat/completions") {
		fmt.Fprint(writer, openaiAnswer)
	} else {
		fmt.Fprint(writer, anthropicAnswer)
	}
}

func call(id string) llms.ToolCall {
	function := &llms.FunctionCall{Name: "weather", Arguments: `{"city":"` + id + `"}`}
	return llms.ToolCall{ID: id, Type: "function", FunctionCall: function}
}

func result(id string) llms.ContentPart {
	return llms.ToolCallResponse{ToolCallID: id, Name: "weather", Content: "rain"}
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return value
}

func ask(model llms.Model, results ...llms.MessageContent) {
	parts := []llms.ContentPart{llms.TextPart("I look."), call("Paris"), call("Oslo")}
	answer := llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: parts}
	messages := append([]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Go."), answer}, results...)
	must(model.GenerateContent(context.Background(), messages, llms.WithMaxTokens(10)))
}

// The types of the blocks of each message after the first.
func anthropicParts() string {
	var found []string
	for _, one := range arrived[1:] {
		var blocks []struct{ Type string }
		if err := json.Unmarshal(one.Content, &blocks); err != nil {
			panic(err)
		}
		var types []string
		for _, block := range blocks {
			types = append(types, block.Type)
		}
		found = append(found, strings.Join(types, ", "))
	}
	return "anthropic: " + strings.Join(found, " | ")
}

func openaiParts() string {
	found := fmt.Sprintf("openai: text, %d calls", len(arrived[1].ToolCalls))
	for _, one := range arrived[2:] {
		if one.Role == "tool" {
			found += " | 1 result"
		}
	}
	return found
}

func tool(parts ...llms.ContentPart) llms.MessageContent {
	return llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: parts}
}

func main() {
	server := httptest.NewServer(http.HandlerFunc(serve))
	defer server.Close()
	claude := must(anthropic.New(anthropic.WithToken("k"), anthropic.WithBaseURL(server.URL+"/v1"), anthropic.WithModel("m")))
	ask(claude, tool(result("Paris"), result("Oslo")))
	first := anthropicParts()
	gpt := must(openai.New(openai.WithToken("k"), openai.WithBaseURL(server.URL+"/v1"), openai.WithModel("m")))
	ask(gpt, tool(result("Paris")), tool(result("Oslo")))
	second := openaiParts()
	fmt.Printf("%s\n%s\n", first, second)
	if first != "anthropic: text | tool_result" || second != "openai: text, 2 calls | 1 result | 1 result" {
		os.Exit(1)
	}
}
GO
go mod init finding >/dev/null 2>&1
go get github.com/tmc/langchaingo@v0.1.14 >/dev/null 2>&1
go mod tidy >/dev/null 2>&1
timeout 300 go run .
