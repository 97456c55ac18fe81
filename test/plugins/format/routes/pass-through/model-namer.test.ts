import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SseFramer } from '#core/gateway/model-call/sse-framer.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { ModelPlace } from '../../../../../plugins/format/formats/contract/pass-through.ts';
import { ModelNamer } from '../../../../../plugins/format/routes/pass-through/model-namer.ts';
import { conversational } from '../../../../support/formats.ts';
import { runs } from '../../../../support/runs.ts';

const placeOf = (format: keyof typeof conversational) => conversational[format].client.modelPlace as ModelPlace;

/** What the client gets of a stream. */
function named(stream: string, format: keyof typeof conversational = 'chat', name = 'dp/there'): string {
  const namer = new ModelNamer(name, placeOf(format));
  const framer = new SseFramer();
  const events = [...framer.push(Buffer.from(stream)), ...framer.end()];
  return Buffer.concat(events.flatMap((event) => namer.renameEvent(event))).toString();
}

const chunk = (members: string) => `data: {"id":"c","object":"chat.completion.chunk",${members}}\n\n`;
const content = (text: string) => `"choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}}}]`;

const objectsOf = (stream: string) =>
  stream
    .split('\n\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text.slice('data: '.length)) as JsonObject);

const messageStart = (model: string) =>
  `event: message_start\ndata: {"type":"message_start","message":{"id":"m","model":"${model}","content":[]}}\n\n`;

const responseStates = (model: string) =>
  ['created', 'in_progress', 'completed', 'incomplete', 'failed']
    .map(
      (state) =>
        `event: response.${state}\ndata: {"type":"response.${state}","response":{"tools":[{"model":"x"}],"model":"${model}"}}\n\n`,
    )
    .join('');

const geminiChunks = (model: string) =>
  ['a', 'b']
    .map(
      (text) =>
        `data: {"candidates":[{"content":{"parts":[{"functionCall":{"args":{"modelVersion":"x"}}},{"text":"${text}"}]}}],"modelVersion":"${model}","responseId":"r"}\r\n\r\n`,
    )
    .join('');

const wholeAnswer = (model: string) => `{ "id": 12345678901234567890, "x": {"model":"x"},\n "model" : "${model}" }`;

describe('the name of the model in a stream', () => {
  it('is the client’s in every event, and every other byte stays', () => {
    const events = ['a', 'b', 'ü', '"model":"x"', '{"model":"x"}'].map((text) => content(text));
    const stream = (model: string) => events.map((members) => chunk(`"model":"${model}", ${members}`)).join('');
    expect(named(stream('gpt-4o-2024-08-06'))).toBe(stream('dp/there'));
  });

  it('is found behind the content too', () => {
    const events = ['a', 'b', 'ü', '","model":"x"'].map((text) => content(text));
    const stream = (model: string) => events.map((members) => chunk(`${members},"model" : "${model}","n":1`)).join('');
    expect(named(stream('x'))).toBe(stream('dp/there'));
  });

  it('is replaced where an upstream names several models, or none', () => {
    const stream = [chunk(`"model":"a",${content('1')}`), chunk(`"model":"b",${content('2')}`), chunk(content('3'))];
    expect(named(stream.join(''))).toBe(stream.join('').replace('"a"', '"dp/there"').replace('"b"', '"dp/there"'));
  });

  it('is found in data of several lines, wherever a line ends', () => {
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      const stream = (model: string) =>
        ['data: {"id":', '"c",', '"model"', ':', `"${model}"`, ',"choices":[]}'].join(`${lineEnd}data: `) +
        lineEnd.repeat(2);
      expect(named(stream('x'))).toBe(stream('dp/there'));
    }
  });

  it('is written where the upstream says null', () => {
    expect(named(chunk(`"model":null,${content('1')}`))).toBe(chunk(`"model":"dp/there",${content('1')}`));
  });

  it('stays when it is right', () => {
    const stream = chunk(`"model":"dp/there",${content('1')}`).repeat(3);
    expect(named(stream)).toBe(stream);
  });

  it('of an extension is not touched', () => {
    const stream = chunk(`"x":{"model":"x"},${content('1')},"model":{"a":1}`).repeat(2);
    expect(named(stream)).toBe(stream);
  });

  it('is found whatever the order of the members and the text', () => {
    const member = fc.constantFrom('"id":"c"', '"usage":null', '"x":{"model":"up"}', '"y":[{"model":"up"}]');
    const words = fc.oneof(
      fc.string(),
      fc.constantFrom('"model":"up"', '{"model":"up"}', '\\"model\\":\\"up', '}\n\n'),
    );
    const event = fc
      .tuple(fc.array(member, { maxLength: 3 }), words, fc.array(member, { maxLength: 3 }), fc.boolean())
      .map(([before, said, after, isLast]) => {
        const [first, second] = isLast ? [content(said), '"model":"up"'] : ['"model":"up"', content(said)];
        return `data: {${[...before, first, ...after, second].join(',')}}\n\n`;
      });
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 6 }), (events) => {
        const stream = events.join('');
        expect(objectsOf(named(stream))).toEqual(objectsOf(stream).map((object) => ({ ...object, model: 'dp/there' })));
      }),
      runs(100),
    );
  });

  it('of Messages stands in its message, and nowhere else', () => {
    const block =
      'event: content_block_start\ndata: {"type":"content_block_start","message":{"model":"x"},"content_block":{"type":"tool_use","input":{"model":"x"}}}\n\n';
    expect(named(messageStart('x') + block, 'messages')).toBe(messageStart('dp/there') + block);
  });

  it('of Responses stands in each state of its response, not in its tools', () => {
    expect(named(responseStates('x'), 'responses')).toBe(responseStates('dp/there'));
  });

  it('of Gemini is its version, not the argument of a call', () => {
    expect(named(geminiChunks('x'), 'gemini')).toBe(geminiChunks('dp/there'));
  });
});

describe('the name of the model in a whole answer', () => {
  it('is the client’s, and every other character stays', () => {
    expect(new ModelNamer('a"b', placeOf('chat')).renameReply(wholeAnswer('x'))).toBe(wholeAnswer('a\\"b'));
  });

  it('is not added', () => {
    expect(new ModelNamer('there', placeOf('chat')).renameReply('{"x":{"model":"x"}}')).toBe('{"x":{"model":"x"}}');
  });
});
