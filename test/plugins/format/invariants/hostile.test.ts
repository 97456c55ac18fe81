import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Fragment } from '../../../../plugins/format/canonical/reply.ts';
import { createReader, CallTranslator } from '../../../../plugins/format/routes/translation/translator.ts';
import { type TextFormat, conversational } from '../../../support/formats.ts';
import { runs } from '../../../support/runs.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';
import { sampleRequest } from './conversations.ts';
import { eventsOf, exchange, formats, pairs, requestOf, settle, streamOf, wholeOf } from './fixture.ts';

const route = routeTo(upstreamAt('http://127.0.0.1:1/v1'));
const deep = (levels: number) => `${'{"a":['.repeat(levels)}1${']}'.repeat(levels)}`;
/** Levels from which recursive walks, JSON.stringify among them, run out of stack. */
const tooDeep = 50_000;

const said: Fragment[] = [
  { type: 'reasoning', text: 'Hm.' },
  { type: 'reasoning_state', kind: 'signature', data: 'EqQB' },
  { type: 'text', text: 'Hi' },
  { type: 'call', key: 0, id: 'call_0', name: 'now' },
  { type: 'input', key: 0, text: '{"x":1}' },
  { type: 'call_end', key: 0 },
  { type: 'usage', usage: { input: 3, output: 4 } },
  { type: 'finish', reason: 'tool_calls' },
  { type: 'end' },
];

/** The input of a call, in formats that write it as a text of JSON. */
const inputText = JSON.stringify('{"a":"x"}');

/** Runs, and lets only errors through that are ours. */
function survive(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  }
}

/** One value somewhere in a document replaced by another. @param where picks the place */
function replaceIn(document: JsonValue, where: number, value: JsonValue): JsonValue {
  let count = 0;
  const walk = (at: JsonValue): JsonValue => {
    if (count++ === where) return value;
    if (Array.isArray(at)) return at.map(walk);
    if (!isJsonObject(at)) return at;
    return Object.fromEntries(Object.entries(at).map(([name, inner]) => [name, walk(inner ?? null)]));
  };
  return walk(document);
}

/** Every object of a document with a member that nobody knows. */
function withUnknown(document: JsonValue, value: JsonValue): JsonValue {
  if (Array.isArray(document)) return document.map((entry) => withUnknown(entry, value));
  if (!isJsonObject(document)) return document;
  const members = Object.entries(document).map(([name, inner]) => [name, withUnknown(inner ?? null, value)]);
  return { ...Object.fromEntries(members), x_unheard_of: value };
}

const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<JsonValue>(null, '', 0, -1, 1e300, [], {}, [null], [{}], { type: null }, '__proto__'),
) as fc.Arbitrary<JsonValue>;
const place = fc.nat(80);

/** @throws GatewayError or, where the gateway is wrong, anything else */
function translate(client: TextFormat, upstream: TextFormat, body: JsonValue): string {
  if (!isJsonObject(body)) return '';
  return String(
    new CallTranslator(exchange, requestOf(client, body)).translate(route, conversational[upstream]).request.body,
  );
}

describe.each(formats)('a request of %s', (client) => {
  const sample = sampleRequest(client);

  it('a request with a mistake anywhere is decoded or refused, for every upstream', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(place, anything), { minLength: 1, maxLength: 3 }), (changes) => {
        const body = changes.reduce<JsonValue>((so, [where, value]) => replaceIn(so, where, value), sample);
        for (const upstream of formats) survive(() => translate(client, upstream, body));
      }),
      runs(60),
    );
  });

  it('a request may have calls whose input nests without limit inside a text', () => {
    const bombed = JSON.parse(JSON.stringify(sample).replace(inputText, JSON.stringify(deep(tooDeep)))) as JsonObject;
    for (const upstream of formats) expect(translate(client, upstream, bombed)).not.toBe('');
  });

  it('a request may have unknown members anywhere', () => {
    fc.assert(
      fc.property(anything, (value) => {
        const body = withUnknown(sample, value);
        for (const upstream of formats) expect(translate(client, upstream, body)).not.toBe('');
      }),
    );
  });
});

describe.each(pairs)('a reply for %s from %s', (client, upstream) => {
  const whole = wholeOf(upstream, settle(said).reply);
  const events = eventsOf(streamOf(upstream, settle(said).events));

  it('a reply with a mistake anywhere is an answer or a failure', () => {
    fc.assert(
      fc.property(fc.nat(events.length - 1), place, anything, (which, where, value) => {
        survive(() => {
          const changed = JSON.stringify(replaceIn(whole, where, value));
          createReader(exchange, requestOf(client), route, conversational[upstream]).whole(Buffer.from(changed));
        });
        const reader = createReader(exchange, requestOf(client), route, conversational[upstream]);
        for (const [index, { name, data }] of events.entries()) {
          const isChanged = index === which && data.startsWith('{');
          const sent = isChanged ? JSON.stringify(replaceIn(JSON.parse(data) as JsonObject, where, value)) : data;
          reader.push(Buffer.from(`${name === undefined ? '' : `event: ${name}\n`}data: ${sent}\n\n`));
        }
        reader.end();
      }),
      { numRuns: 100 },
    );
  });

  it('a reply that nests without limit is an answer or a failure', () => {
    const bomb = deep(tooDeep);
    const reader = createReader(exchange, requestOf(client), route, conversational[upstream]);
    for (const { name, data } of events) {
      const bombed = data.replace('"{\\"x\\":1}"', bomb).replace('{"x":1}', bomb).replace('"Hi"', bomb);
      reader.push(Buffer.from(`${name === undefined ? '' : `event: ${name}\n`}data: ${bombed}\n\n`));
    }
    reader.end();
    const text = JSON.stringify(whole).replace('{"x":1}', bomb).replace('"{\\"x\\":1}"', bomb);
    survive(() => createReader(exchange, requestOf(client), route, conversational[upstream]).whole(Buffer.from(text)));
  });

  it('a reply whose calls nest without limit inside texts is an answer or a failure', () => {
    const calls = said.map((one) => (one.type === 'input' ? { ...one, text: deep(tooDeep) } : one));
    const reader = createReader(exchange, requestOf(client), route, conversational[upstream]);
    let stream = '';
    survive(() => (stream = streamOf(upstream, settle(calls).events)));
    reader.push(Buffer.from(stream));
    reader.end();
  });
});
