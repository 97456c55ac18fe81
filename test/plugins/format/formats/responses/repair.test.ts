import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { ResponsesReplyRepair } from '../../../../../plugins/format/formats/responses/repair/reply-repair.ts';
import { eventsOf } from '../../../../support/readers/answer.ts';
import { runs } from '../../../../support/runs.ts';
import { streamEvent } from '../../codec-fixture.ts';
import { recordings } from '../../replays/recordings.ts';

const context = { id: 'x', model: 'dp/m', created: 1, request: { instructions: 'Be brief.' } };
const repair = (request: JsonObject = context.request) => new ResponsesReplyRepair({ ...context, request }, false);
const whole = (body: JsonObject, request?: JsonObject) => repair(request).repairReply(body);

/** The data of the events that a client gets. */
function stream(events: readonly JsonObject[]): JsonObject[] {
  const one = repair();
  return events
    .flatMap((event) => one.repairEvent(streamEvent(`data: ${JSON.stringify(event)}\n\n`)))
    .map(({ data = '' }) => JSON.parse(data) as JsonObject);
}

it('the end of a part that only the finished item has repeats its citations', () => {
  const annotations = [{ type: 'url_citation', url: 'https://a.test', title: 'A', start_index: 0, end_index: 1 }];
  const item = { type: 'message', content: [{ type: 'output_text', text: 'a', annotations }] };
  const events = stream([{ type: 'response.output_item.done', item }]);
  expect(events.find(({ type }) => type === 'response.content_part.done')).toMatchObject({ part: { annotations } });
});

describe('repairing a whole Responses reply', () => {
  const complete = recordings.find(({ name }) => name === 'responses/openai-function-calls')?.whole;

  it('a complete Responses reply stays the same object', () => {
    const body = JSON.parse(String(complete)) as JsonObject;
    expect(whole(body)).toBe(body);
  });

  it('a service tier of the vendor’s own is left out of a Responses reply, streamed and whole, but not OpenAI’s', () => {
    const body = JSON.parse(String(complete)) as JsonObject;
    const { service_tier: _, ...untold } = body;
    const told = { ...untold, service_tier: 'on_demand' };
    expect(whole(told)).toEqual(untold);
    expect(whole({ ...untold, service_tier: 'flex' })['service_tier']).toBe('flex');
    expect(new ResponsesReplyRepair(context, true).repairReply(told)).toBe(told);
    for (const type of ['response.created', 'response.in_progress', 'response.completed', 'response.failed']) {
      const written = stream([{ type, response: told }]);
      expect(written.at(-1)).toMatchObject({ type, response: { id: untold['id'] } });
      expect(JSON.stringify(written)).not.toContain('on_demand');
    }
  });

  it('a Responses reply that has used up its limit of output tokens is incomplete, streamed and whole, but not OpenAI’s', () => {
    const body = JSON.parse(String(complete)) as JsonObject;
    const cut = { incomplete_details: { reason: 'max_output_tokens' }, status: 'incomplete' };
    const counted = (limit: number | null) => ({
      ...body,
      status: 'completed',
      max_output_tokens: limit,
      usage: { input_tokens: 24, output_tokens: 5, total_tokens: 29 },
    });
    expect(whole(counted(5))).toMatchObject(cut);
    expect(whole(counted(null), { max_output_tokens: 5 })).toMatchObject(cut);
    expect(stream([{ type: 'response.completed', response: counted(5) }]).at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: cut,
    });
    for (const limit of [6, null]) {
      expect(whole(counted(limit))['status']).toBe('completed');
      const last = stream([{ type: 'response.completed', response: counted(limit) }]).at(-1);
      expect(last).toMatchObject({ type: 'response.completed', response: { status: 'completed' } });
    }
    expect(new ResponsesReplyRepair(context, true).repairReply(counted(5))['status']).toBe('completed');
  });

  it('a Responses reply that names its limit as Chat does is cut off by `max_output_tokens`, streamed and whole', () => {
    const body = JSON.parse(String(complete)) as JsonObject;
    const cut = (reason: string) => ({ ...body, status: 'incomplete', incomplete_details: { reason } });
    const named = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
    expect(whole(cut('length'))).toMatchObject(named);
    expect(stream([{ type: 'response.incomplete', response: cut('length') }]).at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: named,
    });
    expect(whole(cut('content_filter'))).toMatchObject({ incomplete_details: { reason: 'content_filter' } });
  });

  it('missing members of a Responses reply are those of the request', () => {
    const answer = whole({ output: [], usage: { total_tokens: 3 }, citations: ['x'] });
    expect(answer).toMatchObject({ id: 'resp_x', object: 'response', model: 'dp/m', instructions: 'Be brief.' });
    expect(answer).toMatchObject({ status: 'completed', usage: { total_tokens: 3 }, citations: ['x'] });
  });

  it('output_text of a Responses reply becomes an item', () => {
    const part = { type: 'output_text', text: 'Hi', annotations: [] };
    expect(whole({ output_text: 'Hi' })['output']).toMatchObject([{ type: 'message', content: [part] }]);
  });

  it('unknown members of Responses items and parts are kept', () => {
    const part = { type: 'text', text: 'Hi', citations: [1] };
    const output = [{ type: 'message', id: 'm', content: [part], reasoning_details: { a: 1 } }];
    expect(whole({ output })['output']).toMatchObject([
      { reasoning_details: { a: 1 }, content: [{ type: 'output_text', citations: [1] }] },
    ]);
  });

  it('Responses items without an id get different ids', () => {
    const output = [{ type: 'reasoning' }, { content: 'a' }, { content: 'b' }, { type: 'function_call', name: 'f' }];
    const ids = (whole({ output })['output'] as JsonObject[]).map(({ id }) => id);
    expect(ids).toEqual(['rs_x_0', 'msg_x_1', 'msg_x_2', 'fc_x_3']);
  });

  it('a Responses reply repeats the description of the requested format, and of no other', () => {
    const format = { type: 'json_schema', name: 'n', schema: {} };
    const request = { text: { format: { ...format, description: 'd' } } };
    expect(whole({ output: [], text: { format, verbosity: 'low' } }, request)['text']).toEqual({
      format: { ...format, description: 'd' },
      verbosity: 'low',
    });
    expect(whole({ output: [], text: { format: { type: 'text' } } }, request)['text']).toEqual({
      format: { type: 'text' },
    });
  });

  it('a long request is parsed only for the description of its format', () => {
    const body = { ...(JSON.parse(String(complete)) as JsonObject), text: { format: { type: 'json_object' } } };
    let parsed = 0;
    const wholeOf = (outline: JsonObject, request: JsonObject) =>
      new ResponsesReplyRepair(
        {
          ...context,
          outline,
          get request() {
            parsed++;
            return request;
          },
        },
        false,
      ).repairReply(body);
    expect(wholeOf({ input: [] }, {})).toBe(body);
    expect(parsed).toBe(0);
    const format = { type: 'json_object' };
    const cut = { text: { format: { ...format, description: 'd~cut' } } };
    const asked = { text: { format: { ...format, description: 'described' } } };
    expect(wholeOf(cut, asked)['text']).toEqual(asked.text);
  });

  it.each([
    [{ error: { message: 'x' } }],
    [{ status: 'failed', output: [] }],
    [{ status: 'in_progress', output: [] }],
    [{}],
  ])('a body that is not a Responses answer stays unchanged: %j', (body) => {
    expect(whole(body)).toBe(body);
  });
});

describe('repairing a Responses stream', () => {
  it('the id of a repaired Responses stream stays the same from beginning to end', () => {
    const ids = stream([
      { type: 'response.created', response: { id: 'a' } },
      { type: 'response.completed', response: { id: 'b', output: [] } },
    ]).map(({ response }) => (response as JsonObject)['id']);
    expect(ids).toEqual(['a', 'a']);
  });

  it('a call that the end of a Responses stream lists twice comes once', () => {
    const call = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' };
    const events = stream([{ type: 'response.completed', response: { output: [call, { ...call, id: 'fc_2' }] } }]);
    expect(events.filter(({ type }) => type === 'response.output_item.added')).toHaveLength(1);
  });

  it('events behind the end of their Responses item make no second item', () => {
    const place = { item_id: 'm', output_index: 0, content_index: 0 };
    const item = { id: 'm', type: 'message', content: [{ type: 'output_text', text: 'Hi', annotations: [] }] };
    const events = stream([
      { type: 'response.output_text.delta', ...place, delta: 'Hi' },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.output_text.done', ...place, text: 'Hi' },
      { type: 'response.completed', response: { output: [item] } },
    ]);
    expect(events.filter(({ type }) => type === 'response.output_item.added')).toHaveLength(1);
  });

  it('sources of a text that comes only with its finished Responses item are events', () => {
    const annotations = [{ type: 'url_citation', url: 'https://a.test', title: 'A', start_index: 0, end_index: 2 }];
    const item = { id: 'm', type: 'message', content: [{ type: 'output_text', text: 'Hi', annotations }] };
    const events = stream([{ type: 'response.output_item.done', output_index: 0, item }]);
    const added = events.filter(({ type }) => type === 'response.output_text.annotation.added');
    expect(added.map(({ annotation }) => annotation)).toEqual(annotations);
  });

  it('sources of a Responses text are in its part and its item, also where their end is missing or the stream fails', () => {
    const annotation = { type: 'url_citation', url: 'https://a.test', title: 'A', start_index: 0, end_index: 2 };
    const place = { item_id: 'm', output_index: 0, content_index: 0 };
    const begun: JsonObject[] = [
      { type: 'response.created', response: { id: 'r' } },
      { type: 'response.output_text.delta', ...place, delta: 'Hi' },
      { type: 'response.output_text.annotation.added', ...place, annotation_index: 0, annotation },
    ];
    const events = stream([...begun, { type: 'response.completed', response: { id: 'r', output: [] } }]);
    const content = [{ text: 'Hi', annotations: [annotation] }];
    expect(events.find(({ type }) => type === 'response.content_part.done')?.['part']).toMatchObject(content[0] ?? {});
    expect(events.find(({ type }) => type === 'response.output_item.done')?.['item']).toMatchObject({ content });
    expect(events.at(-1)?.['response']).toMatchObject({ output: [{ content }] });
    const one = repair();
    for (const event of begun) one.repairEvent(streamEvent(`data: ${JSON.stringify(event)}\n\n`));
    const failed = eventsOf(one.renderFailure(new GatewayError('upstream_failed', 'gone'), undefined)).at(-1);
    expect(JSON.parse(failed?.data ?? '')).toMatchObject({ response: { output: [{ content }] } });
  });

  it('a call of a Responses stream that is done under another call id stays one item', () => {
    const item = { id: 'fc_1', type: 'function_call', call_id: 'a', name: 'f', arguments: '' };
    const done = { ...item, call_id: 'b', arguments: '{}' };
    const events = stream([
      { type: 'response.created', response: { id: 'r' } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item: done },
      { type: 'response.completed', response: { id: 'r', output: [done] } },
    ]);
    expect(events.filter(({ type }) => type === 'response.output_item.added')).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'response.output_item.done')).toHaveLength(1);
    expect(events.at(-1)?.['response']).toMatchObject({ output: [{ call_id: 'b' }] });
  });

  it.each([
    ['reasoning', 'response.reasoning_text.delta', { summary: [{ type: 'summary_text', text: 'First. Then.' }] }],
    [
      'message',
      'response.output_text.delta',
      { content: [{ type: 'output_text', text: 'First. Then.', annotations: [] }] },
    ],
  ])('a %s of a Responses stream that is repeated with other white space comes once', (type, delta, content) => {
    const events = stream([
      { type: 'response.created', response: { id: 'r' } },
      { type: delta, item_id: 'i', output_index: 0, content_index: 1, delta: '\nFirst.\nThen.\n' },
      { type: 'response.output_item.done', output_index: 0, item: { id: 'i', type, ...content } },
      { type: 'response.completed', response: { id: 'r', output: [] } },
    ]);
    const deltas = events.filter((event) => String(event['type']).endsWith('_text.delta'));
    expect(deltas.map((event) => event['delta'])).toEqual(['\nFirst.\nThen.\n']);
  });

  it('a Responses stream that ends like Chat gets its own last event', () => {
    const one = repair();
    const events = ['data: {"type":"response.output_text.delta","delta":"Hi"}\n\n', 'data: [DONE]\n\n'];
    const types = events.flatMap((event) => one.repairEvent(streamEvent(event))).map(({ name }) => name);
    expect(types).toContain('response.completed');
  });

  it('dropped events of a Responses stream are noted', () => {
    const one = repair();
    expect(one.repairEvent(streamEvent('data: {"type":"response.heartbeat"}\n\n'))).toEqual([]);
    expect(one.notes).toEqual(['dropped event response.heartbeat']);
  });

  it("an error under a vendor's own name ends a Responses stream", () => {
    const event = 'event: oops\ndata: {"type":"oops","error":{"message":"x"}}\n\n';
    expect(repair().repairEvent(streamEvent(event))).toMatchObject([{ name: 'error' }]);
  });

  it('any Responses stream is repaired, with numbers without gaps', () => {
    const given = recordings
      .filter(({ format }) => format === 'responses')
      .flatMap((recording) => eventsOf(recording.stream.toString()).map(({ data }) => JSON.parse(data) as JsonObject))
      .filter(({ type }) => type !== 'error' && type !== 'response.failed');
    const strange = fc.constantFrom<JsonValue>(null, 0, -1, 1.5, 1e9, '', 'x', '__proto__', [], {}, [null], true);
    const mutated = fc
      .tuple(
        fc.constantFrom(...given),
        fc.dictionary(fc.constantFrom(...Object.keys(given[6] ?? {}), 'item', 'part', 'response', 'delta'), strange, {
          maxKeys: 2,
        }),
      )
      .map(([event, members]): JsonObject => ({ ...event, ...members, type: event['type'] }));
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...given) }, mutated), { maxLength: 30 }),
        (events) => {
          const numbers = stream(events).map(({ sequence_number }) => Number(sequence_number));
          expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
          expect(new Set(numbers).size).toBe(numbers.length);
        },
      ),
      runs(200),
    );
  });
});
