import { describe, expect, it } from 'vitest';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { Notes } from '../../../../plugins/format/canonical/notes.ts';
import { ToolNames } from '../../../../plugins/format/canonical/tool-names.ts';
import { chat } from '../../../../plugins/format/formats/chat/descriptor.ts';
import type { ClientTextFormat, TextFormat } from '../../../../plugins/format/formats/contract/descriptor.ts';
import { gemini } from '../../../../plugins/format/formats/gemini/descriptor.ts';
import { messages } from '../../../../plugins/format/formats/messages/descriptor.ts';
import { ollama } from '../../../../plugins/format/formats/ollama/descriptor.ts';
import { responses } from '../../../../plugins/format/formats/responses/descriptor.ts';
import { encodeForRoute } from '../../../../plugins/format/routes/translation/encode-for-route.ts';

const parameters = { type: 'object', properties: { path: { type: 'string' } } };
const description = 'Reads a file.';
const system = 'You are an agent.';
const texts = ['first question', 'first answer', 'second question', 'second answer', 'third question'];

/** A request of each format with some of these texts, by turns of the user and the assistant. */
const clients: Readonly<Record<string, { format: ClientTextFormat; write: (some: string[]) => JsonObject }>> = {
  chat: {
    format: chat,
    write: (some) => ({
      model: 'm',
      messages: [
        { role: 'system', content: system },
        ...some.map((content, index) => ({ role: roleOf(index), content })),
      ],
      tools: [{ type: 'function', function: { name: 'read', description, parameters } }],
      max_completion_tokens: 100,
      stop: ['END'],
    }),
  },
  responses: {
    format: responses,
    write: (some) => ({
      model: 'm',
      input: some.map((content, index) => ({ role: roleOf(index), content })),
      instructions: system,
      tools: [{ type: 'function', name: 'read', description, parameters, strict: false }],
      max_output_tokens: 100,
    }),
  },
  messages: {
    format: messages,
    write: (some) => ({
      model: 'm',
      max_tokens: 100,
      messages: some.map((content, index) => ({ role: roleOf(index), content })),
      system,
      tools: [{ name: 'read', description, input_schema: parameters }],
    }),
  },
  gemini: {
    format: gemini,
    write: (some) => ({
      contents: some.map((text, index) => ({ role: index % 2 === 0 ? 'user' : 'model', parts: [{ text }] })),
      systemInstruction: { parts: [{ text: system }] },
      tools: [{ functionDeclarations: [{ name: 'read', description, parametersJsonSchema: parameters }] }],
      generationConfig: { maxOutputTokens: 100 },
    }),
  },
};
const upstreams: readonly (readonly [string, TextFormat, ProfileSettings])[] = [
  ['chat', chat, {}],
  ['chat with its own names', chat, { quirks: { max_tokens_name: 'max_completion_tokens', system_role: 'developer' } }],
  ['responses', responses, { quirks: { betas: true, freeform_tools: true } }],
  ['messages', messages, { quirks: { automatic_caching: true } }],
  ['messages on Vertex AI', messages, { quirks: { vertex: true } }],
  ['gemini', gemini, {}],
  ['ollama', ollama, {}],
];

function roleOf(index: number): string {
  return index % 2 === 0 ? 'user' : 'assistant';
}

function written(client: string, to: TextFormat, settings: ProfileSettings, some: string[]): string {
  const { format, write } = clients[client] as (typeof clients)['chat'];
  const notes = new Notes();
  const conversation = format.client.text.decodeRequest(write(some), notes);
  const profile = mergeProfiles(settings);
  const names = new ToolNames(conversation, to.text.toolNames);
  return JSON.stringify(
    encodeForRoute(
      to,
      conversation,
      { model: 'there', profile, isStream: true, names, notes, endUser: 'e' },
      '0a1b2c3d',
    ),
  );
}

function sharedPrefix(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return one.slice(0, length);
}

const pairs = Object.keys(clients).flatMap((client) =>
  upstreams
    .filter(([, { name }]) => name !== client)
    .map(([title, to, settings]) => [client, title, to, settings] as const),
);

describe('the order of members in translated requests', () => {
  it.each(pairs)('a turn from %s to %s begins with all bytes of the turn before it', (client, _title, to, settings) => {
    const before = written(client, to, settings, texts.slice(0, 3));
    const shared = sharedPrefix(before, written(client, to, settings, texts));
    expect(shared).toContain('"second question"');
    expect(shared.length).toBeGreaterThan(before.length - 40);
  });

  it.each(pairs)('tools and instructions precede the dialogue from %s to %s', (client, _title, to, settings) => {
    const body = written(client, to, settings, texts);
    const [tools, instructions, question] = [description, system, 'first question'].map((text) => body.indexOf(text));
    expect(tools).toBeGreaterThan(0);
    expect(instructions).toBeGreaterThan(tools as number);
    expect(question).toBeGreaterThan(instructions as number);
  });
});
