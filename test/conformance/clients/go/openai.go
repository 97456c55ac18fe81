package main

import (
	"context"
	"errors"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// Chat completions. Gives every message back as the SDK converts it.
func runOpenAI(ctx context.Context, l loop) (string, error) {
	client := openai.NewClient(option.WithBaseURL(l.url+"/v1"), option.WithAPIKey(l.key), option.WithMaxRetries(0))
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
