import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { OllamaDecoder } from '../../../../../plugins/format/formats/ollama/decode-reply.ts';
import { settle } from '../../invariants/fixture.ts';

const done = { done: true, done_reason: 'stop', prompt_eval_count: 7, eval_count: 3 };
const line = (message: JsonObject, more: JsonObject = { done: false }) => ({ model: 'm', message, ...more });

function streamed(...lines: readonly JsonObject[]) {
  const decoder = new OllamaDecoder();
  return lines.flatMap((one) => decoder.readEvent(undefined, JSON.stringify(one)));
}
const whole = (body: JsonObject) => new OllamaDecoder().readWhole(body);

describe('a reply of Ollama', () => {
  it('a reply of Ollama is the same streamed as whole', () => {
    const calls = [{ function: { name: 'now', arguments: { zone: 'UTC' } } }];
    const inPieces = settle(
      streamed(
        line({ content: '', thinking: 'Hm' }),
        line({ content: '', thinking: 'm.' }),
        line({ content: 'It ' }),
        line({ content: 'is:', tool_calls: calls }),
        line({ content: '' }, done),
      ),
    ).reply;
    const runToEnd = settle(whole(line({ thinking: 'Hmm.', content: 'It is:', tool_calls: calls }, done))).reply;
    expect(inPieces).toEqual(runToEnd);
    expect(runToEnd).toMatchObject({
      blocks: [
        { type: 'reasoning', text: 'Hmm.' },
        { type: 'text', text: 'It is:' },
        { type: 'tool_call', name: 'now', input: '{"zone":"UTC"}' },
      ],
      finish: 'tool_calls',
      usage: { input: 7, output: 3 },
    });
  });

  it('a reply of Ollama tells its calls apart, with ids or without', () => {
    const call = { function: { name: 'now', arguments: {} } };
    const tool_calls = [{ id: 'c1', ...call }, call, call];
    const { blocks } = settle(whole(line({ content: '', tool_calls }, done))).reply;
    const ids = blocks.map((block) => (block.type === 'tool_call' ? block.id : ''));
    expect(ids[0]).toBe('c1');
    expect(new Set(ids).size).toBe(3);
  });

  it.each([
    ['length', 'length'],
    ['stop', 'stop'],
    [undefined, 'stop'],
    ['something new', 'stop'],
  ])('that ends with %s has the finish reason %s', (done_reason, finish) => {
    const body = { ...line({ content: 'Hi' }), done: true, ...(done_reason !== undefined && { done_reason }) };
    expect(settle(whole(body)).reply.finish).toBe(finish);
  });

  it('a reply of Ollama that is an error inside a stream fails', () => {
    const fragments = streamed(line({ content: 'Hi' }), { error: 'model runner has unexpectedly stopped' });
    expect(fragments.at(-1)).toMatchObject({ type: 'error', error: { code: 'upstream_failed' } });
  });

  it.each(['load', 'unload'])('a reply of Ollama that only did %s the model is no answer', (done_reason) => {
    const fragments = whole(line({ role: 'assistant', content: '' }, { done: true, done_reason }));
    expect(fragments).toMatchObject([{ type: 'text' }, { type: 'error', error: { code: 'upstream_failed' } }]);
  });

  it.each([{}, { models: [] }])('a reply of Ollama without a message is no answer: %j', (body) => {
    expect(whole(body)).toMatchObject([{ type: 'error', error: { code: 'upstream_failed' } }]);
  });
});
