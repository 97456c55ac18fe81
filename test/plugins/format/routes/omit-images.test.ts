import { describe, expect, it } from 'vitest';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import { type JsonObject } from '#core/platform/json.ts';
import { openCall } from '../../../../plugins/format/routes/model-call.ts';
import { type TextFormat, descriptors } from '../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';
import { modelOf } from '../catalog/catalog-fixture.ts';
import { exchange, formats, requestOf } from '../invariants/fixture.ts';

const words = '[image omitted: this model does not accept images]';
const url = 'data:image/png;base64,iVBORw0KGgo=';
const png = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
const inlineData = { mimeType: 'image/png', data: 'iVBORw0KGgo=' };
const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } };

/** What a user, and what a tool has shown. */
const shown: Readonly<Record<TextFormat, { user: JsonObject; tool: JsonObject; path: string }>> = {
  chat: {
    user: { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] },
    tool: {
      messages: [
        { role: 'user', content: 'Look' },
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'a', content: [{ type: 'image_url', image_url: { url } }] },
      ],
    },
    path: 'messages[0].content[0]',
  },
  responses: {
    user: { input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] },
    tool: {
      input: [
        { role: 'user', content: 'Look' },
        { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_image', image_url: url }] },
      ],
    },
    path: 'input[0].content[0]',
  },
  messages: {
    user: { max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'image', source: png }] }] },
    tool: {
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'Look' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image', source: png }] }],
        },
      ],
    },
    path: 'messages[0].content[0]',
  },
  gemini: {
    user: { contents: [{ role: 'user', parts: [{ inlineData }] }] },
    tool: {
      contents: [
        { role: 'user', parts: [{ text: 'Look' }] },
        { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'look', response: { result: 'ok' }, parts: [{ inlineData }] } }],
        },
      ],
    },
    path: 'contents[0].parts[0]',
  },
};

const routeOf = (upstream: TextFormat, images: boolean) =>
  routeTo(upstreamAt(`http://127.0.0.1:1/${upstream}${images}`, { formats: [upstream] }), {
    profile: mergeProfiles({ capabilities: { images }, quirks: { tool_result_images: images } }),
  });
const callOf = (format: TextFormat, body: JsonObject, ...routes: ReturnType<typeof routeOf>[]) =>
  openCall(exchange, modelOf('test', [], { routes }), requestOf(format, { model: 'test', ...body }));
const pairs = formats.flatMap((client) => formats.map((upstream) => [client, upstream] as const));

describe('a picture that a tool has shown', () => {
  it.each(pairs)('is a line of text for a model that sees none, and a note: %s to %s', (client, upstream) => {
    const route = routeOf(upstream, false);
    const request = callOf(client, shown[client].tool, route).encode(route);
    expect(String(request.body)).toContain(words);
    expect(String(request.body)).not.toContain('iVBORw0KGgo');
    expect(request.notes).toContain('approximated images in tool results as text');
  });

  it.each(formats)('goes to the route that can see it, where there is one: %s', (client) => {
    const routes = [routeOf('chat', false), routeOf('messages', true)];
    const made = callOf(client, shown[client].tool, ...routes);
    expect(made.canServe(routes[1]!)).toBe(true);
    expect(String(made.encode(routes[1]!).body)).toContain('iVBORw0KGgo');
  });

  it('leaves long numbers in calls as they are', () => {
    const route = routeOf('messages', false);
    const text = JSON.stringify({ model: 'test', ...shown.messages.tool }).replace(
      '"input":{}',
      '"input":{"id":12345678901234567890}',
    );
    const request = requestOf('messages', JSON.parse(text) as JsonObject, text);
    const made = openCall(exchange, modelOf('test', [], { routes: [route, routeOf('chat', false)] }), request);
    expect(String(made.encode(made.model.routes[1]!).body)).toContain(':12345678901234567890');
  });
});

describe('a picture that a user shows', () => {
  it.each(pairs)('is refused with its place where no route can see it: %s to %s', (client, upstream) => {
    const { refusal } = callOf(client, shown[client].user, routeOf(upstream, false));
    expect(refusal).toMatchObject({ code: 'unsupported_content', details: { param: shown[client].path } });
    expect(refusal?.status(descriptors[client])).toBe(400);
  });
});
