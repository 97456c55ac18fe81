import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReplyDecoder } from '../../../../plugins/format/canonical/codec.ts';
import type { Fragment } from '../../../../plugins/format/canonical/reply.ts';
import { StopCutter } from '../../../../plugins/format/canonical/stop-cutter.ts';

const ending: Fragment[] = [
  { type: 'usage', usage: { input: 1, output: 9 } },
  { type: 'finish', reason: 'stop' },
  { type: 'end' },
];
const texts = (...pieces: string[]): Fragment[] => pieces.map((text) => ({ type: 'text', text }));

/** What is left of these fragments, each of which comes as an event of its own. */
function cut(fragments: readonly Fragment[], sequences: readonly string[]): Fragment[] {
  const decoder: ReplyDecoder = {
    readEvent: (_name, data) => [JSON.parse(data) as Fragment],
    readWhole: () => [...fragments],
  };
  const cutter = new StopCutter(decoder, sequences);
  return fragments.flatMap((fragment) => cutter.readEvent(undefined, JSON.stringify(fragment)));
}

const textOf = (fragments: readonly Fragment[]): string =>
  fragments.map((fragment) => (fragment.type === 'text' ? fragment.text : '')).join('');

describe('an answer that an upstream without stop sequences gives', () => {
  it('the answer is cut before the first complete stop sequence and keeps its token count', () => {
    const left = cut([...texts('one two th', 'ree E', 'ND four'), ...ending], ['END', 'three E', 'four']);
    expect(textOf(left)).toBe('one two ');
    expect(left.slice(1)).toEqual([
      { type: 'finish', reason: 'stop_sequence', stopSequence: 'three E' },
      ending[0],
      { type: 'end' },
    ]);
  });

  it('calls and errors after the cut are dropped', () => {
    const late: Fragment[] = [{ type: 'call', key: 0, id: 'a', name: 'look' }, ...texts('END')];
    expect(cut([...texts('END'), ...late, ...ending], ['END']).map(({ type }) => type)).toEqual([
      'finish',
      'usage',
      'end',
    ]);
  });

  it('text that only began like a stop sequence is kept, before what follows', () => {
    const call: Fragment = { type: 'call', key: 0, id: 'a', name: 'look' };
    expect(cut([...texts('the EN'), call, ...ending], ['END'])).toEqual([
      ...texts('the '),
      ...texts('EN'),
      call,
      ...ending,
    ]);
  });

  it('the answer is cut at the same place however it is split into pieces', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), fc.array(word, { minLength: 1, maxLength: 3 }), (pieces, stops) => {
        const whole = pieces.join('');
        const left = cut([...texts(...pieces), ...ending], stops);
        expect(textOf(left)).toBe(textOf(cut([...texts(whole), ...ending], stops)));
        expect(stops.some((stop) => textOf(left).includes(stop))).toBe(false);
        expect(whole.startsWith(textOf(left))).toBe(true);
        expect(left.filter(({ type }) => type === 'finish')).toHaveLength(1);
      }),
    );
  });
});
