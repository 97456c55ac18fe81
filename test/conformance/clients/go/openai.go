package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

// Chat completions. Gives every message back as the SDK converts it. Before that it reads a stored response as a stream.
func runOpenAI(ctx context.Context, l loop) (string, error) {
	client := openai.NewClient(option.WithBaseURL(l.url+"/v1"), option.WithAPIKey(l.key), option.WithMaxRetries(0))
	if err := readStored(ctx, client, l.model); err != nil {
		return "", err
	}
	look := openai.FunctionDefinitionParam{
		Name:        "look",
		Description: openai.String("Looks."),
		Parameters:  openai.FunctionParameters{"type": "object", "properties": map[string]any{}},
	}
	params := openai.ChatCompletionNewParams{
		Model:    l.model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(system), openai.UserMessage(openAIParts(l))},
		Tools:    []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(look)},
	}
	for range maxTurns {
		message, err := askOpenAI(ctx, client, params, l.stream)
		if err != nil {
			return "", err
		}
		if len(message.ToolCalls) == 0 {
			return message.Content, nil
		}
		params.Messages = append(params.Messages, message.ToParam())
		for _, call := range message.ToolCalls {
			params.Messages = append(params.Messages, openai.ToolMessage(result, call.ID))
		}
	}
	return "", errors.New("it never ended")
}

func askOpenAI(
	ctx context.Context, client openai.Client, params openai.ChatCompletionNewParams, stream bool,
) (openai.ChatCompletionMessage, error) {
	var completion openai.ChatCompletion
	if stream {
		events := client.Chat.Completions.NewStreaming(ctx, params)
		accumulator := openai.ChatCompletionAccumulator{}
		for events.Next() {
			accumulator.AddChunk(events.Current())
		}
		if err := events.Err(); err != nil {
			return openai.ChatCompletionMessage{}, err
		}
		completion = accumulator.ChatCompletion
	} else {
		answer, err := client.Chat.Completions.New(ctx, params)
		if err != nil {
			return openai.ChatCompletionMessage{}, err
		}
		completion = *answer
	}
	if len(completion.Choices) == 0 {
		return openai.ChatCompletionMessage{}, errors.New("no choice")
	}
	return completion.Choices[0].Message, nil
}

// A stored response, streamed when it has ended, says what it said at first.
func readStored(ctx context.Context, client openai.Client, model string) error {
	params := responses.ResponseNewParams{
		Model: model,
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Who are you?")},
	}
	first, err := client.Responses.New(ctx, params)
	if err != nil {
		return err
	}
	events := client.Responses.GetStreaming(ctx, first.ID, responses.ResponseGetParams{})
	text, last := "", ""
	for events.Next() {
		event := events.Current()
		last = event.Type
		if event.Type == "response.output_text.delta" {
			text += event.Delta
		}
	}
	if events.Err() == nil && (last != "response.completed" || text == "" || text != first.OutputText()) {
		return fmt.Errorf("the stream of a stored response says %q and ends with %q", text, last)
	}
	return events.Err()
}

func openAIParts(l loop) []openai.ChatCompletionContentPartUnionParam {
	image := openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64," + encode(l.image)}
	parts := []openai.ChatCompletionContentPartUnionParam{openai.ImageContentPart(image)}
	if l.pdf != nil {
		parts = append(parts, openai.FileContentPart(openai.ChatCompletionContentPartFileFileParam{
			FileData: openai.String("data:application/pdf;base64," + encode(l.pdf)),
			Filename: openai.String("map.pdf"),
		}))
	}
	return append(parts, openai.TextContentPart(l.question))
}
