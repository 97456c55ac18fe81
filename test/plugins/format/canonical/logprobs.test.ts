import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { StopCutter } from '../../../../plugins/format/canonical/stop-cutter.ts';
import { conversational } from '../../../support/formats.ts';
import { decodeWith, encodeWith } from '../codec-fixture.ts';
import { eventsOf, readWhole, settle, streamOf, wholeOf } from '../invariants/fixture.ts';

const { chat, responses, messages, gemini } = conversational;
const hi = [{ role: 'user', content: 'Hi' }];
const entry = (token: string) => ({ token, logprob: -0.5, bytes: [...Buffer.from(token)], top_logprobs: [] });

/** What a client wants of a request, as a route gets it. */
function asked(client: 'chat' | 'responses', body: JsonObject, upstream = client === 'chat' ? responses : chat) {
  const { conversation } = decodeWith(conversational[client].client.text, body);
  return encodeWith(upstream, conversation, {});
}

describe('log probabilities that a client asks for', () => {
  it('are asked of Responses for a client of Chat', () => {
    const { body, notes } = asked('chat', { messages: hi, logprobs: true, top_logprobs: 3 });
    expect(body).toMatchObject({ top_logprobs: 3, include: expect.arrayContaining(['message.output_text.logprobs']) });
    expect(notes).toEqual([]);
  });

  it('are asked of Chat for a client of Responses', () => {
    const include = ['message.output_text.logprobs'];
    expect(asked('responses', { input: 'Hi', include }).body).toMatchObject({ logprobs: true });
    expect(asked('responses', { input: 'Hi', top_logprobs: 2 }).body).toMatchObject({
      logprobs: true,
      top_logprobs: 2,
    });
    expect(asked('responses', { input: 'Hi', include }).notes).toEqual([]);
  });

  it('are not requested if the client does not want them', () => {
    expect(asked('chat', { messages: hi, logprobs: false }).body).not.toHaveProperty('top_logprobs');
    expect(asked('responses', { input: 'Hi' }).body).not.toHaveProperty('logprobs');
  });

  it.each([messages, gemini])('are noted where the format has none: $name', (upstream) => {
    expect(asked('chat', { messages: hi, logprobs: true }, upstream as never).notes).toContain('dropped logprobs');
  });
});

const chatReply = {
  choices: [
    {
      message: { content: 'Hi é' },
      logprobs: { content: [entry('Hi'), entry(' é')], refusal: null },
      finish_reason: 'stop',
    },
  ],
};
const responsesReply = {
  status: 'completed',
  output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi é', logprobs: [entry('Hi'), entry(' é')] }] }],
};
const entries = [entry('Hi'), entry(' é')];

const chunk = (content: string, tokens: JsonObject[]) =>
  JSON.stringify({ choices: [{ delta: { content }, logprobs: { content: tokens, refusal: null } }] });

/** A stream of Chat whose second character comes in two tokens, of which the first has no text. */
function chatStream(): string[] {
  return [chunk('', [{ ...entry('Hi'), bytes: null }]), chunk('Hi', []), chunk(' é', [entry(' é')])];
}

describe('log probabilities of an answer', () => {
  it('reach a client of the other format in a whole answer', () => {
    const [item] = wholeOf('responses', readWhole('chat', chatReply))['output'] as JsonObject[];
    expect(item).toMatchObject({ content: [{ text: 'Hi é', logprobs: entries }] });
    const [choice] = wholeOf('chat', readWhole('responses', responsesReply))['choices'] as JsonObject[];
    expect(choice).toMatchObject({ message: { content: 'Hi é' }, logprobs: { content: entries, refusal: null } });
  });

  it('are null and empty where the vendor has sent none', () => {
    const plain = readWhole('chat', { choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] });
    expect(wholeOf('chat', plain)['choices']).toMatchObject([{ logprobs: null }]);
    expect(wholeOf('responses', plain)['output']).toMatchObject([{ content: [{ logprobs: [] }] }]);
  });

  it('come with their text in streams of Responses, without losing a token that has none', () => {
    const decoder = chat.text.createDecoder();
    const fragments = chatStream().flatMap((data) => decoder.readEvent(undefined, data));
    const { events } = settle([...fragments, { type: 'finish', reason: 'stop' }, { type: 'end' }]);
    const sent = eventsOf(streamOf('responses', events)).map(({ data }) => JSON.parse(data) as JsonObject);
    const deltas = sent.filter(({ type }) => type === 'response.output_text.delta');
    expect(deltas.map(({ delta }) => delta)).toEqual(['Hi', ' é']);
    expect(deltas.flatMap(({ logprobs }) => logprobs)).toEqual([{ ...entry('Hi'), bytes: [] }, entry(' é')]);
    expect(sent.find(({ type }) => type === 'response.output_text.done')).toMatchObject({
      logprobs: [{ ...entry('Hi'), bytes: [] }, entry(' é')],
    });
  });

  it('come with their text in streams of Chat, each once', () => {
    const decoder = responses.text.createDecoder();
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    const given = [
      { type: 'response.output_text.delta', ...place, delta: 'Hi', logprobs: [entry('Hi')] },
      { type: 'response.output_text.delta', ...place, delta: ' é', logprobs: [entry(' é')] },
      { type: 'response.output_text.done', ...place, text: 'Hi é', logprobs: entries },
      { type: 'response.completed', response: { ...responsesReply, id: 'resp_1' } },
    ];
    const { events } = settle(given.flatMap((event) => decoder.readEvent(event.type, JSON.stringify(event))));
    const chunks = eventsOf(streamOf('chat', events)).filter(({ data }) => data !== '[DONE]');
    const choices = chunks.flatMap(({ data }) => (JSON.parse(data) as JsonObject)['choices'] as JsonObject[]);
    const withTokens = choices.filter(({ logprobs }) => logprobs !== null);
    expect(withTokens).toMatchObject([
      { delta: { content: 'Hi' }, logprobs: { content: [entry('Hi')], refusal: null } },
      { delta: { content: ' é' }, logprobs: { content: [entry(' é')], refusal: null } },
    ]);
  });

  it('are left out, and noted, where the gateway cuts the answer at a stop sequence', () => {
    const cutter = new StopCutter(chat.text.createDecoder(), ['é']);
    const fragments = cutter.readWhole(chatReply);
    expect(JSON.stringify(fragments)).not.toContain('-0.5');
    expect(fragments).toContainEqual({ type: 'dropped', feature: 'logprobs in the answer' });
  });
});
