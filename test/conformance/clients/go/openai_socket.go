package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
)

type (
	create    = responses.ResponsesClientEventResponseCreateParam
	askSocket = func(create) (*responses.Response, error)
)

// More than the account may have in flight.
const socketLanes = 16

// What the model says to a question without tools.
const puzzled = "What do you mean?"

// The Responses API over one WebSocket: lanes, or, where the loop is streamed, the connection without a lane.
func runOpenAISocket(ctx context.Context, l loop) (string, error) {
	client := openai.NewClient(option.WithBaseURL(l.url+"/v1"), option.WithAPIKey(l.key), option.WithMaxRetries(0))
	connection, err := client.Responses.Connect(ctx, responses.ResponseConnectionOptions{})
	if err != nil {
		return "", err
	}
	defer connection.Close()
	main := func(event create) (*responses.Response, error) {
		if err := connection.Create(ctx, event); err != nil {
			return nil, err
		}
		return connection.FinalResponse(ctx)
	}
	fork := main
	if !l.stream {
		if main, err = laneOf(ctx, connection, "main"); err != nil {
			return "", err
		}
		if fork, err = laneOf(ctx, connection, "fork"); err != nil {
			return "", err
		}
	}
	if err := checkRefusals(main, l); err != nil {
		return "", err
	}
	first, err := beginOnSocket(main, l)
	if err != nil {
		return "", err
	}
	if l.stream {
		return finishOnSocket(main, l, first)
	}
	if err := useManyLanes(ctx, connection, l); err != nil {
		return "", err
	}
	forked, err := finishOnSocket(fork, l, first)
	if err != nil {
		return "", fmt.Errorf("the fork: %w", err)
	}
	answer, err := finishOnSocket(main, l, first)
	if err == nil && forked != answer {
		err = fmt.Errorf("the fork says %q", forked)
	}
	return answer, err
}

func laneOf(ctx context.Context, connection *responses.ResponseConnection, name string) (askSocket, error) {
	lane, err := connection.Lane(name)
	return func(event create) (*responses.Response, error) {
		event.StreamID = openai.String(name)
		if err := connection.Create(ctx, event); err != nil {
			return nil, err
		}
		return lane.FinalResponse(ctx)
	}, err
}

// Sends on every lane before it reads from one.
func useManyLanes(ctx context.Context, connection *responses.ResponseConnection, l loop) error {
	var lanes []*responses.ResponseLane
	for number := range socketLanes {
		name := fmt.Sprintf("lane-%d", number)
		lane, err := connection.Lane(name)
		if err != nil {
			return err
		}
		lanes = append(lanes, lane)
		event := newEvent(l.model, textInput("Who are you?"))
		event.StreamID = openai.String(name)
		if err := connection.Create(ctx, event); err != nil {
			return err
		}
	}
	for number, lane := range lanes {
		response, err := lane.FinalResponse(ctx)
		if err != nil {
			return err
		}
		if text := response.OutputText(); text != puzzled {
			return fmt.Errorf("lane %d says %q", number, text)
		}
	}
	return nil
}

// Errors end a request, not the connection.
func checkRefusals(ask askSocket, l loop) error {
	unknown := newEvent(l.model, textInput("Go on."))
	unknown.PreviousResponseID = openai.String("resp_unknown")
	refusals := []struct {
		event create
		code  string
	}{
		{newEvent("nowhere", textInput("Who are you?")), "model_not_found"},
		{unknown, "previous_response_not_found"},
	}
	for _, refusal := range refusals {
		_, err := ask(refusal.event)
		var protocol *responses.ResponseProtocolError
		if !errors.As(err, &protocol) {
			return fmt.Errorf("no %s but %w", refusal.code, err)
		}
		found := protocol.Event.OfResponsesServerEventResponseWsError
		if found.Status != 400 || found.Error.Code != refusal.code {
			return fmt.Errorf("%d %s in place of %s", found.Status, found.Error.Code, refusal.code)
		}
	}
	response, err := ask(newEvent(l.model, textInput("Who are you?")))
	if err != nil {
		return err
	}
	if text := response.OutputText(); text != puzzled {
		return fmt.Errorf("the answer after errors is %q", text)
	}
	return nil
}

// A warm-up has the question, and the first answer calls a tool.
func beginOnSocket(ask askSocket, l loop) (*responses.Response, error) {
	message := responses.ResponseInputItemParamOfMessage(socketParts(l), responses.EasyInputMessageRoleUser)
	event := newEvent(l.model, listInput(message))
	event.Generate = openai.Bool(false)
	event.Instructions = openai.String(system)
	event.Tools = socketTools()
	warm, err := ask(event)
	if err != nil {
		return nil, err
	}
	if warm.Status != responses.ResponseStatusCompleted || len(warm.Output) > 0 {
		return nil, fmt.Errorf("the warm-up is %s", warm.RawJSON())
	}
	event.Generate = param.Opt[bool]{}
	event.Input = textInput("Go on.")
	event.PreviousResponseID = openai.String(warm.ID)
	return ask(event)
}

// Sends the results only. The connection has the rest.
func finishOnSocket(ask askSocket, l loop, response *responses.Response) (string, error) {
	for range maxTurns {
		var results []responses.ResponseInputItemUnionParam
		for _, item := range response.Output {
			if item.Type != "function_call" {
				continue
			}
			output := responses.ResponseInputItemParamOfFunctionCallOutput(result)
			output.OfFunctionCallOutput.CallID = openai.String(item.AsFunctionCall().CallID)
			results = append(results, output)
		}
		if len(results) == 0 {
			return response.OutputText(), nil
		}
		event := newEvent(l.model, listInput(results...))
		event.Tools = socketTools()
		event.PreviousResponseID = openai.String(response.ID)
		var err error
		if response, err = ask(event); err != nil {
			return "", err
		}
	}
	return "", errors.New("it never ended")
}

func newEvent(model string, input responses.ResponsesClientEventResponseCreateInputUnionParam) create {
	return create{Model: model, Input: input, Store: openai.Bool(false)}
}

func textInput(text string) responses.ResponsesClientEventResponseCreateInputUnionParam {
	return responses.ResponsesClientEventResponseCreateInputUnionParam{OfString: openai.String(text)}
}

func listInput(items ...responses.ResponseInputItemUnionParam) responses.ResponsesClientEventResponseCreateInputUnionParam {
	list := responses.ResponseInputParam(items)
	return responses.ResponsesClientEventResponseCreateInputUnionParam{OfResponse: &list}
}

func socketTools() []responses.ToolUnionParam {
	schema := map[string]any{"type": "object", "properties": map[string]any{}}
	return []responses.ToolUnionParam{responses.ToolParamOfFunction("look", schema, false)}
}

func socketParts(l loop) responses.ResponseInputMessageContentListParam {
	image := responses.ResponseInputContentParamOfInputImage(responses.ResponseInputImageDetailAuto)
	image.OfInputImage.ImageURL = openai.String("data:image/png;base64," + encode(l.image))
	parts := responses.ResponseInputMessageContentListParam{image}
	if l.pdf != nil {
		parts = append(parts, responses.ResponseInputContentUnionParam{OfInputFile: &responses.ResponseInputFileParam{
			FileData: openai.String("data:application/pdf;base64," + encode(l.pdf)),
			Filename: openai.String("map.pdf"),
		}})
	}
	return append(parts, responses.ResponseInputContentParamOfInputText(l.question))
}
