// Tool loops of three turns with Go SDKs and their defaults. The argument names the client. Prints one JSON line for
// each loop.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// A loop is one conversation of a client.
type loop struct {
	url, key, model string
	stream          bool
	question        string
	image           []byte
	pdf             []byte // nil where the model reads none
}

const (
	system = "Be brief."
	result = "nothing"
	// Turns after which a loop without an answer ends.
	maxTurns = 4
)

var clients = map[string]func(context.Context, loop) (string, error){
	"anthropic-go":     runAnthropic,
	"openai-go":        runOpenAI,
	"openai-go-socket": runOpenAISocket,
	"google-genai-go":  runGenAI,
}

func main() {
	run := clients[os.Args[1]]
	readers := strings.Split(os.Getenv("LOOP_PDF_MODELS"), ",")
	for model := range strings.SplitSeq(os.Getenv("LOOP_MODELS"), ",") {
		for _, stream := range []bool{false, true} {
			one := loop{
				url: os.Getenv("LOOP_URL"), key: os.Getenv("LOOP_KEY"), model: model, stream: stream,
				question: os.Getenv("LOOP_QUESTION"), image: decode("LOOP_IMAGE"),
			}
			if slices.Contains(readers, model) {
				one.pdf = decode("LOOP_PDF")
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			answer, err := run(ctx, one)
			cancel()
			if err != nil {
				answer = err.Error()
			}
			line, _ := json.Marshal(map[string]any{"model": model, "stream": stream, "answer": answer})
			fmt.Println(string(line))
		}
	}
}

func decode(name string) []byte {
	bytes, err := base64.StdEncoding.DecodeString(os.Getenv(name))
	if err != nil {
		panic(err)
	}
	return bytes
}

func encode(bytes []byte) string {
	return base64.StdEncoding.EncodeToString(bytes)
}
