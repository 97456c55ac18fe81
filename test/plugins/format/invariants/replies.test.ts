import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Block, CompleteReply, FinishReason } from '../../../../plugins/format/canonical/reply.ts';
import type { TextFormat } from '../../../support/formats.ts';
import { answer, formats, parsed, readStream, readWhole, settle, streamOf, wholeOf } from './fixture.ts';

const ends: Readonly<Record<TextFormat, Partial<Record<FinishReason, FinishReason>>>> = {
  chat: { stop_sequence: 'stop', context_length: 'length', pause: 'length' },
  responses: { stop_sequence: 'stop', context_length: 'length', pause: 'length' },
  messages: {},
  gemini: { stop_sequence: 'stop', context_length: 'length', pause: 'length' },
};

/** How an ending comes back through a format that has fewer words for it. */
const endOf = (format: TextFormat, finish: FinishReason): FinishReason => ends[format][finish] ?? finish;

const saidBy = (blocks: readonly Block[], type: 'text' | 'reasoning'): string =>
  blocks.flatMap((block) => (block.type === type ? [block.text] : [])).join('');

/** What a client gets to see. Formats differ in how they part a text, so that white space is left out. */
function visible(format: TextFormat, { blocks, finish, usage }: CompleteReply) {
  return {
    text: saidBy(blocks, 'text').replace(/\s/g, ''),
    reasoning: saidBy(blocks, 'reasoning').replace(/\s/g, ''),
    calls: blocks.flatMap((block) =>
      block.type === 'tool_call' ? [{ id: block.id, name: block.name, input: parsed(block.input) }] : [],
    ),
    finish: endOf(format, finish),
    usage: format === 'gemini' ? { ...usage, cacheWrite: 0 } : usage,
  };
}

describe.each(formats)('%s: any reply', (format) => {
  it('a reply that is encoded as a stream is decoded to itself', () => {
    fc.assert(
      fc.property(answer, (fragments) => {
        const { events, reply } = settle(fragments);
        expect(visible(format, readStream(format, streamOf(format, events)))).toEqual(visible(format, reply));
      }),
    );
  });

  it('a reply that is encoded whole is decoded like its stream', () => {
    fc.assert(
      fc.property(answer, (fragments) => {
        const { events, reply } = settle(fragments);
        const whole = readWhole(format, wholeOf(format, reply));
        expect(visible(format, whole)).toEqual(visible(format, readStream(format, streamOf(format, events))));
      }),
    );
  });
});
