import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { MessagesReplyRepair } from '../../../../../../plugins/format/formats/messages/reply/reply-repair.ts';
import { streamEvent } from '../../../codec-fixture.ts';

const text = { type: 'text', text: 'Hi' };
const call = { type: 'tool_use', id: 'a', name: 'f', input: {} };

/** The stop reason that a client gets, streamed. */
function streamed(block: JsonObject, stop_reason: string | null, stop_sequence: string | null = null): unknown {
  const repair = new MessagesReplyRepair('x1');
  const events: JsonObject[] = [
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: { output_tokens: 3 } },
  ];
  const written = events.flatMap((data) =>
    repair.repairEvent(streamEvent(`event: ${String(data['type'])}\ndata: ${JSON.stringify(data)}\n\n`)),
  );
  const { delta, usage } = JSON.parse(written[1]?.data ?? '') as { delta: JsonObject; usage: JsonObject };
  expect(usage).toEqual({ output_tokens: 3 });
  expect(written[1]?.text).toContain(JSON.stringify(delta));
  return delta['stop_reason'];
}

const whole = (block: JsonObject, stop_reason: string | null, stop_sequence: string | null = null): JsonObject =>
  new MessagesReplyRepair('x1').repairReply({ type: 'message', content: [block], stop_reason, stop_sequence });

describe('the stop reason of an endpoint that imitates Messages', () => {
  it.each([
    ['a call that ends the turn', call, 'end_turn', 'tool_use'],
    ['no call', text, 'tool_use', 'end_turn'],
    ['a call in the words of Chat', call, 'tool_calls', 'tool_use'],
    ['a call that a limit cuts', call, 'max_tokens', 'max_tokens'],
    ['a word that is not known', text, 'compaction', 'compaction'],
    ['no reason', text, null, null],
  ])('fits the content: %s', (_what, block, reported, expected) => {
    expect(streamed(block, reported)).toBe(expected);
    expect(whole(block, reported)['stop_reason']).toBe(expected);
  });

  it.each([
    ['end_turn', 'END', text, 'stop_sequence'],
    ['stop_sequence', 'END', text, 'stop_sequence'],
    ['end_turn', '', text, 'end_turn'],
    ['max_tokens', 'END', text, 'max_tokens'],
    ['end_turn', 'END', call, 'tool_use'],
  ])('%s is made to match the stop sequence %j', (reported, sequence, block, expected) => {
    expect(streamed(block, reported, sequence)).toBe(expected);
    expect(whole(block, reported, sequence)['stop_reason']).toBe(expected);
  });

  it('is left alone, with every byte, where it fits', () => {
    const repair = new MessagesReplyRepair('x1');
    const event = streamEvent('event: message_delta\ndata: {"delta": {"stop_reason": "end_turn"}}\n\n');
    expect(repair.repairEvent(event)).toEqual([event]);
    const body = { content: [call], stop_reason: 'tool_use' };
    expect(new MessagesReplyRepair('x1').repairReply(body)).toBe(body);
  });
});
