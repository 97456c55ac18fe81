import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseEvents, type WrittenEvent } from '../../../../../plugins/format/state/responses-store/response-events.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../../../../support/faulty-upstream.ts';
import { startGateway, type TestGateway, yamlFor } from '../../../../support/gateway.ts';
import { responseBody } from './fixture.ts';

vi.setConfig({ testTimeout: 60_000 });

const texts = [
  ['We meet ', 'in Jak', 'arta on ', 'Friday.'],
  ['Or in ', 'Bandung, not Jakarta'],
];
const mapped = ['We meet in **** on Friday.', 'Or in Bandung, not ****'];

/** The events of a Responses stream with these messages, in deltas. */
function nativeEvents(): { type: string }[] {
  const items = texts.map((deltas, index) => ({
    id: `msg_${index}`,
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: deltas.join(''), annotations: [], logprobs: [] }],
  }));
  const begun = responseBody(1, { status: 'in_progress', output: [], usage: null });
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...texts.flatMap((deltas, index) => {
      const item = items[index]!;
      const at = { item_id: item.id, output_index: index, content_index: 0 };
      const [part] = item.content;
      return [
        {
          type: 'response.output_item.added',
          output_index: index,
          item: { ...item, status: 'in_progress', content: [] },
        },
        { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
        ...deltas.map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
        { type: 'response.output_text.done', ...at, text: deltas.join(''), logprobs: [] },
        { type: 'response.content_part.done', ...at, part },
        { type: 'response.output_item.done', output_index: index, item },
      ];
    }),
    { type: 'response.completed', response: responseBody(1, { output: items }) },
  ];
  return events.map((event, index) => ({ ...event, sequence_number: index }));
}

const answerInResponses: Handler = async (_request, response) => {
  response.sse();
  for (const event of nativeEvents()) await response.event(event, event.type);
  response.end();
};

const choice = (content: string) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });

const answerInChat: Handler = async (_request, response) => {
  response.sse();
  for (const delta of texts[0]!) await response.event(choice(delta));
  await response.event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  response.end('data: [DONE]\n\n');
};

const read = async (reply: Response) => parseEvents(await reply.text());
const idOf = ({ text }: WrittenEvent) => /"id":"(resp_[^"]+)"/.exec(text)![1]!;
const textOf = (events: readonly WrittenEvent[]) =>
  events
    .filter(({ type }) => type === 'response.output_text.delta')
    .map(({ text }) => JSON.parse(text.slice(text.indexOf('{'))).delta)
    .join('');

describe.each([
  ['responses', answerInResponses, mapped],
  ['chat', answerInChat, mapped.slice(0, 1)],
])(
  'the stream of a background response on a route of the format %s, whose words a stage changes',
  (format, answer, expected) => {
    let upstream: FaultyUpstream;
    let gateway: TestGateway;
    let all: WrittenEvent[];
    beforeAll(async () => {
      upstream = await createUpstream(answer);
      const redact = resolve('docs/examples/redact.ts');
      gateway = await startGateway({
        yaml: `plugins: ["${redact}"]
${yamlFor(`${upstream.url}/v1`, `[${format}]`).replace('- auth\n', '- auth\n  - redact: { words: [Jakarta], with: "****" }\n')}`,
      });
      all = await read(await create());
    });
    afterAll(async () => {
      await gateway?.[Symbol.asyncDispose]();
      await upstream?.[Symbol.asyncDispose]();
    });

    const request = (path: string, init: RequestInit = {}) =>
      fetch(`${gateway.url}/v1/responses${path}`, {
        ...init,
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      });
    const create = (init: RequestInit = {}) =>
      request('', {
        method: 'POST',
        body: JSON.stringify({ model: 'test', input: 'Where?', background: true, stream: true }),
        ...init,
      });
    const resume = (id: string, after: number, init: RequestInit = {}) =>
      request(`/${id}?stream=true&starting_after=${after}`, init);
    it('counts its events from 0 and has the changed words', () => {
      expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_event, index) => index));
      expect(textOf(all)).toBe(expected.join(''));
      expect(all.at(-1)!.text).not.toContain('Jakarta');
    });

    it('is the same from any event on', async () => {
      for (const [index, { sequence }] of all.entries())
        expect((await read(await resume(idOf(all[0]!), sequence!))).map(({ text }) => text)).toEqual(
          all.slice(index + 1).map(({ text }) => text),
        );
    });

    it('has neither gap nor repetition for a client that breaks off again and again', async () => {
      const seen: WrittenEvent[] = [];
      /** Reads up to three events and breaks off. */
      const readSome = async (open: (init: RequestInit) => Promise<Response>) => {
        const abort = new AbortController();
        let [text, count] = ['', 0];
        for await (const chunk of (await open({ signal: abort.signal })).body!.pipeThrough(new TextDecoderStream())) {
          text += chunk;
          count = parseEvents(text.slice(0, text.lastIndexOf('\n\n') + 2)).length;
          if (count >= 3) break;
        }
        seen.push(...parseEvents(text.slice(0, text.lastIndexOf('\n\n') + 2)).slice(0, 3));
        abort.abort();
      };
      await readSome(create);
      const id = idOf(seen[0]!);
      while (seen.at(-1)!.type !== 'response.completed')
        await readSome((init) => resume(id, seen.at(-1)!.sequence!, init));
      expect(seen.map(({ text }) => text)).toEqual(
        (await read(await request(`/${id}?stream=true`))).map(({ text }) => text),
      );
    });

    it('ends for a client that resumes it after its events have been deleted', async () => {
      await gateway.database.query('delete from response_event');
      const id = idOf(all[0]!);
      for (const { sequence } of all.slice(0, -1)) {
        const rest = await read(await resume(id, sequence!));
        expect(rest.at(-1)?.type, `after ${sequence}`).toBe('response.completed');
        const numbers = rest.map((event) => event.sequence!);
        expect(numbers).toEqual(numbers.map((_number, index) => numbers[0]! + index));
        expect(numbers[0]).toBeGreaterThan(sequence!);
      }
    });
  },
);
