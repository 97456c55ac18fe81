import { describe, expect, it } from 'vitest';
import type { Model } from '#core/config/catalog/catalog.ts';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { principal } from '#core/gateway/facts.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { openCall } from '../../../../../plugins/format/routes/model-call.ts';
import { ReasoningStore } from '../../../../../plugins/format/state/stored-reasoning/store.ts';
import { vendors } from '../../../../../plugins/upstream/vendors.ts';
import { createExchange } from '../../../../support/exchange.ts';
import type { TextFormat } from '../../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../../upstream/fixture.ts';
import { modelOf } from '../../catalog/catalog-fixture.ts';
import { requestOf } from '../../invariants/fixture.ts';

/** An upstream that reasons before each call, and gives all its calls one id. */
interface Reasoner {
  readonly vendor: string;
  readonly format: TextFormat;
  /** The events of an answer with one call. */
  stream(turn: number): JsonObject[];
  whole(turn: number): JsonObject;
  /** What a request returns of the reasoning before its calls. */
  returned(body: JsonObject): unknown[];
}

const listOf = (value: unknown) => (Array.isArray(value) ? (value as JsonObject[]) : []);
const input = (turn: number) => ({ at: turn });
const geminiAnswer = (turn: number): JsonObject => ({
  candidates: [
    {
      content: {
        role: 'model',
        parts: [
          { text: `Hm ${turn}.`, thought: true },
          {
            functionCall: { id: 'call_0', name: 'look', args: input(turn) },
            thoughtSignature: Buffer.from(`SIG ${turn}`).toString('base64'),
          },
        ],
      },
      finishReason: 'STOP',
    },
  ],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
});
const outputOf = (turn: number): JsonObject[] => [
  {
    type: 'reasoning',
    id: `rs_${turn}`,
    summary: [{ type: 'summary_text', text: `Hm ${turn}.` }],
    encrypted_content: `ENC_${turn}`,
  },
  { type: 'function_call', id: `fc_${turn}`, call_id: 'call_0', name: 'look', arguments: JSON.stringify(input(turn)) },
];
const responseOf = (turn: number): JsonObject => ({
  id: `resp_${turn}`,
  object: 'response',
  status: 'completed',
  output: outputOf(turn),
  usage: { input_tokens: 1, output_tokens: 1 },
});
const chatCall = (turn: number) => ({
  index: 0,
  id: 'call_0',
  type: 'function',
  function: { name: 'look', arguments: JSON.stringify(input(turn)) },
});

const reasoners: readonly Reasoner[] = [
  {
    vendor: 'gemini',
    format: 'gemini',
    stream: (turn) => [geminiAnswer(turn)],
    whole: geminiAnswer,
    returned: (body) =>
      listOf(body['contents'])
        .flatMap(({ parts }) => listOf(parts))
        .filter(({ functionCall }) => functionCall !== undefined)
        .map(({ thoughtSignature: signature }) => Buffer.from(String(signature), 'base64').toString()),
  },
  {
    vendor: 'openai',
    format: 'responses',
    stream: (turn) => [
      ...outputOf(turn).map((item, index) => ({ type: 'response.output_item.done', output_index: index, item })),
      { type: 'response.completed', response: responseOf(turn) },
    ],
    whole: responseOf,
    returned: (body) => {
      const items = listOf(body['input']);
      return items.flatMap(({ type }, index) =>
        type === 'function_call' ? [items[index - 1]?.['encrypted_content']] : [],
      );
    },
  },
  {
    vendor: 'deepseek',
    format: 'chat',
    stream: (turn) => [
      { choices: [{ index: 0, delta: { role: 'assistant', reasoning_content: `Hm ${turn}.` }, finish_reason: null }] },
      { choices: [{ index: 0, delta: { tool_calls: [chatCall(turn)] }, finish_reason: 'tool_calls' }] },
    ],
    whole: (turn) => ({
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: null, reasoning_content: `Hm ${turn}.`, tool_calls: [chatCall(turn)] },
          finish_reason: 'tool_calls',
        },
      ],
    }),
    returned: (body) =>
      listOf(body['messages'])
        .filter(({ tool_calls: calls }) => calls !== undefined)
        .map(({ reasoning_content: text }) => text),
  },
];
const expected: Readonly<Record<string, (turn: number) => string>> = {
  gemini: (turn) => `SIG ${turn}`,
  responses: (turn) => `ENC_${turn}`,
  chat: (turn) => `Hm ${turn}.`,
};

function modelAt({ vendor, format }: Reasoner): Model {
  const preset = vendors.find(({ name }) => name === vendor) ?? {};
  const route = routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats: [format] }), { profile: mergeProfiles(preset) });
  return modelOf('test', [], { routes: [route] });
}

/** The blocks of an answer that has been streamed. */
function blocksIn(stream: string): JsonObject[] {
  const blocks: JsonObject[] = [];
  for (const line of stream.split('\n').filter((one) => one.startsWith('data: {'))) {
    const event = JSON.parse(line.slice(6)) as { index: number; content_block?: JsonObject; delta?: JsonObject };
    if (event.content_block !== undefined) {
      expect(event.index).toBe(blocks.length);
      blocks.push({ ...event.content_block, json: '' });
    }
    const block = blocks[event.index];
    if (block !== undefined) block['json'] = `${String(block['json'])}${String(event.delta?.['partial_json'] ?? '')}`;
  }
  return blocks.map(({ json, ...block }) =>
    'input' in block ? { ...block, input: JSON.parse(String(json)) as JsonObject } : block,
  );
}

/** A client of Messages that runs the same tool again and again. */
class Loop {
  readonly #model: Model;
  readonly #reasoner: Reasoner;
  readonly #store = new ReasoningStore(createTestHost(), 24);
  readonly #exchange = createExchange();
  readonly #isStream: boolean;
  readonly #settings: JsonObject;
  readonly #messages: JsonObject[] = [{ role: 'user', content: 'look around' }];

  constructor(reasoner: Reasoner, isStream: boolean, settings: JsonObject = {}) {
    this.#reasoner = reasoner;
    this.#model = modelAt(reasoner);
    this.#isStream = isStream;
    this.#settings = settings;
    this.#exchange.set(principal, { accountId: 'acc_1', keyId: 'k', keyHint: 'h', limits: undefined, requestCount: 0 });
  }

  /** Asks once. Returns the blocks of the answer, and what the upstream got of earlier reasoning. */
  async ask(turn: number): Promise<{ blocks: JsonObject[]; returned: unknown[] }> {
    const tools = [{ name: 'look', input_schema: { type: 'object' } }];
    const body = { model: 'test', max_tokens: 20_000, messages: [...this.#messages], tools, ...this.#settings };
    const request = requestOf('messages', body).with({ isStream: this.#isStream });
    const opened = await this.#store.attachReasoning(this.#exchange, request, this.#model);
    const call = openCall(this.#exchange, this.#model, opened);
    const [route = routeTo(upstreamAt(''))] = this.#model.routes;
    const sent = JSON.parse(String(call.encode(route).body)) as JsonObject;
    const reader = call.read(route);
    const blocks = this.#isStream ? blocksIn(this.#streamed(reader, turn)) : this.#whole(reader, turn);
    const used = blocks.find(({ type }) => type === 'tool_use');
    this.#messages.push({ role: 'assistant', content: blocks });
    this.#messages.push({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: used?.['id'] ?? '', content: 'there' }],
    });
    return { blocks, returned: this.#reasoner.returned(sent) };
  }

  #streamed(reader: ReturnType<ReturnType<typeof openCall>['read']>, turn: number): string {
    const events = this.#reasoner.stream(turn).map((event) => `data: ${JSON.stringify(event)}\n\n`);
    return reader.push(Buffer.from(events.join(''))).toString() + reader.end().toString();
  }

  #whole(reader: ReturnType<ReturnType<typeof openCall>['read']>, turn: number): JsonObject[] {
    const { body } = reader.whole(Buffer.from(JSON.stringify(this.#reasoner.whole(turn))), 'application/json');
    return listOf((JSON.parse(body.toString()) as JsonObject)['content']);
  }
}

const turns = Array.from({ length: 20 }, (_, turn) => turn);

describe.each(reasoners)('a tool loop of a Messages client on a route of $vendor', (reasoner) => {
  it.each([true, false])(
    'a client that did not ask for thinking gets none, and loses none: streamed %s',
    async (isStream) => {
      const loop = new Loop(reasoner, isStream);
      for (const turn of turns) {
        const { blocks, returned } = await loop.ask(turn);
        expect(blocks.map(({ type }) => type)).toEqual(['tool_use']);
        expect(returned).toEqual(turns.slice(0, turn).map((earlier) => expected[reasoner.format]?.(earlier)));
      }
    },
  );

  it.each([true, false])('a client that asks for thinking gets it: streamed %s', async (isStream) => {
    const loop = new Loop(reasoner, isStream, { thinking: { type: 'enabled', budget_tokens: 2_000 } });
    expect((await loop.ask(0)).blocks.map(({ type }) => type)).toEqual(['thinking', 'tool_use']);
  });

  it('a client that turns thinking off gets none', async () => {
    const loop = new Loop(reasoner, true, { thinking: { type: 'disabled' } });
    expect((await loop.ask(0)).blocks.map(({ type }) => type)).toEqual(['tool_use']);
  });
});
