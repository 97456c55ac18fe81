import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ContinuationSeam } from '../../../../plugins/format/canonical/continuation-seam.ts';
import type { Fragment } from '../../../../plugins/format/canonical/reply.ts';
import { runs } from '../../../support/runs.ts';

const text = (value: string): Fragment => ({ type: 'text', text: value });
const end: Fragment[] = [{ type: 'finish', reason: 'stop' }, { type: 'end' }];

/** The text that passes, of a rest that comes in these pieces and then ends. */
const passed = (sent: string, ...pieces: string[]): string => {
  const seam = new ContinuationSeam(sent);
  const fragments = [...pieces.flatMap((piece) => seam.filter([text(piece)])), ...seam.filter(end)];
  return fragments.map((fragment) => (fragment.type === 'text' ? fragment.text : '')).join('');
};

describe('what the second route repeats is left out', () => {
  it.each([
    ['the last words', 'It was a dark night', 'a dark night and it rained', ' and it rained'],
    ['all of the text', 'It was', 'It was a dark night', ' a dark night'],
    ['the beginning of a word', 'It was a dar', 'dark night', 'k night'],
    ['a space', 'It was ', ' a dark night', 'a dark night'],
    ['line ends', 'Title\n\n', '\n\nText', 'Text'],
    ['a line of code', 'if (a) {\n  return true;', '  return true;\n}', '\n}'],
    ['all of it, and nothing else', 'It was a dark night', 'a dark night', ''],
  ])('%s', (_name, sent, rest, expected) => {
    expect(passed(sent, rest)).toBe(expected);
  });

  it('a repetition is left out, however it is split', () => {
    for (let cut = 1; cut < 14; cut++) {
      const rest = 'a dark night and';
      expect(passed('It was a dark night', rest.slice(0, cut), rest.slice(cut))).toBe(' and');
    }
    expect(passed('It was a dark night', ...'a dark night and')).toBe(' and');
  });

  it('a repetition of up to 4096 characters is left out', () => {
    const words = Array.from({ length: 2_000 }, (_, index) => `w${index}`).join(' ');
    expect(passed(words, `${words.slice(-4_096)} end`)).toBe(' end');
  });
});

describe('text that only resembles a repetition is kept', () => {
  it.each([
    ['one character', 'hel', 'lo'],
    ['a short word', 'it is', 'is'],
    ['the end of a word', 'the banana', 'nation'],
    ['a number', 'x = 100', '100'],
    ['a bracket', 'f((', '(a)'],
    ['another text', 'It was a dark night', ' and it rained'],
    ['the beginning of a repetition that does not come', 'It was a dark night', 'a dark horse'],
  ])('%s', (_name, sent, rest) => {
    expect(passed(sent, rest)).toBe(rest);
    expect(passed(sent, ...rest)).toBe(rest);
  });

  it('the beginning of a repetition is kept if the answer ends inside it', () => {
    expect(passed('It was a dark night', 'a dark')).toBe('a dark');
  });
});

it('no text is lost or added, however the continuation is split', () => {
  const word = fc.stringMatching(/^[ab \n]{0,12}$/);
  fc.assert(
    fc.property(word, fc.array(word), (sent, pieces) => {
      const rest = pieces.join('');
      const result = passed(sent, ...pieces);
      expect(rest.endsWith(result)).toBe(true);
      expect(sent.endsWith(rest.slice(0, rest.length - result.length))).toBe(true);
      expect(result).toBe(passed(sent, rest));
    }),
    runs(60),
  );
});

describe('content other than text', () => {
  it('reasoning is left out and does not end the text', () => {
    const seam = new ContinuationSeam('It was');
    const thought: Fragment[] = [
      { type: 'reasoning', text: 'Go on.' },
      { type: 'reasoning_state', kind: 'signature', data: 's' },
      { type: 'break' },
    ];
    expect(seam.filter([...thought, text(' a dark night'), { type: 'break' }])).toEqual([
      text(' a dark night'),
      { type: 'break' },
    ]);
  });

  it('other content follows the text that was held back', () => {
    const seam = new ContinuationSeam('It was a dark night');
    const call: Fragment = { type: 'call', key: 0, id: 'c', name: 'look' };
    expect(seam.filter([text('a dark')])).toEqual([]);
    expect(seam.hasContent).toBe(false);
    expect(seam.filter([call])).toEqual([text('a dark'), call]);
    expect(seam.hasContent).toBe(true);
  });

  it('a citation loses its position', () => {
    const citation = { url: 'https://a.test', title: undefined, quote: undefined, start: 3, end: 5 };
    expect(new ContinuationSeam('It').filter([{ type: 'citation', citation }])).toEqual([
      { type: 'citation', citation: { ...citation, start: undefined, end: undefined } },
    ]);
  });
});
