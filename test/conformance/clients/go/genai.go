package main

import (
	"context"
	"errors"

	"google.golang.org/genai"
)

// A chat session, which keeps the history. The SDK calls no functions by itself.
func runGenAI(ctx context.Context, l loop) (string, error) {
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: l.key, Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: l.url},
	})
	if err != nil {
		return "", err
	}
	look := &genai.FunctionDeclaration{Name: "look", Description: "Looks."}
	chat, err := client.Chats.Create(ctx, l.model, &genai.GenerateContentConfig{
		SystemInstruction: genai.NewContentFromText(system, genai.RoleUser),
		Tools:             []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{look}}},
	}, nil)
	if err != nil {
		return "", err
	}
	parts := genAIParts(l)
	for range maxTurns {
		text, calls, err := sendGenAI(ctx, chat, parts, l.stream)
		if err != nil || len(calls) == 0 {
			return text, err
		}
		parts = nil
		for _, call := range calls {
			part := genai.NewPartFromFunctionResponse(call.Name, map[string]any{"result": result})
			part.FunctionResponse.ID = call.ID
			parts = append(parts, part)
		}
	}
	return "", errors.New("it never ended")
}

func sendGenAI(
	ctx context.Context, chat *genai.Chat, parts []*genai.Part, stream bool,
) (text string, calls []*genai.FunctionCall, err error) {
	if !stream {
		answer, err := chat.Send(ctx, parts...)
		if err != nil {
			return "", nil, err
		}
		return answer.Text(), answer.FunctionCalls(), nil
	}
	for chunk, err := range chat.SendStream(ctx, parts...) {
		if err != nil {
			return "", nil, err
		}
		text += chunk.Text()
		calls = append(calls, chunk.FunctionCalls()...)
	}
	return text, calls, nil
}

func genAIParts(l loop) []*genai.Part {
	parts := []*genai.Part{genai.NewPartFromBytes(l.image, "image/png")}
	if l.pdf != nil {
		parts = append(parts, genai.NewPartFromBytes(l.pdf, "application/pdf"))
	}
	return append(parts, genai.NewPartFromText(l.question))
}
