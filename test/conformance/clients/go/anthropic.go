package main

import (
	"context"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/toolrunner"
)

// The beta tool runner, which begins message threads.
func runAnthropic(ctx context.Context, l loop) (string, error) {
	client := anthropic.NewClient(option.WithBaseURL(l.url), option.WithAPIKey(l.key), option.WithMaxRetries(0))
	look, err := toolrunner.NewBetaToolFromJSONSchema("look", "Looks.",
		func(context.Context, struct{}) (anthropic.BetaToolResultBlockParamContentUnion, error) {
			text := anthropic.BetaTextBlockParam{Text: result}
			return anthropic.BetaToolResultBlockParamContentUnion{OfText: &text}, nil
		})
	if err != nil {
		return "", err
	}
	tools := []anthropic.BetaTool{look}
	params := anthropic.BetaToolRunnerParams{BetaMessageNewParams: anthropic.BetaMessageNewParams{
		Model:     l.model,
		MaxTokens: 100,
		System:    []anthropic.BetaTextBlockParam{{Text: system}},
		Messages:  []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(anthropicBlocks(l)...)},
	}}
	if !l.stream {
		message, err := client.Beta.Messages.NewToolRunner(tools, params).RunToCompletion(ctx)
		if err != nil {
			return "", err
		}
		return anthropicText(message), nil
	}
	runner := client.Beta.Messages.NewToolRunnerStreaming(tools, params)
	for events := range runner.AllStreaming(ctx) {
		for _, err := range events {
			if err != nil {
				return "", err
			}
		}
	}
	return anthropicText(runner.LastMessage()), nil
}

func anthropicBlocks(l loop) []anthropic.BetaContentBlockParamUnion {
	image := anthropic.BetaBase64ImageSourceParam{Data: encode(l.image), MediaType: "image/png"}
	blocks := []anthropic.BetaContentBlockParamUnion{anthropic.NewBetaImageBlock(image)}
	if l.pdf != nil {
		pdf := anthropic.BetaBase64PDFSourceParam{Data: encode(l.pdf)}
		blocks = append(blocks, anthropic.NewBetaDocumentBlock(pdf))
	}
	return append(blocks, anthropic.NewBetaTextBlock(l.question))
}

func anthropicText(message *anthropic.BetaMessage) string {
	var text strings.Builder
	for _, block := range message.Content {
		text.WriteString(block.Text)
	}
	return text.String()
}
