import { describe, expect, it } from 'vitest';
import { SseFramer } from '#core/gateway/model-call/sse-framer.ts';
import { JsonArrayFramer } from '../../../../plugins/format/formats/gemini/reply/json-array.ts';
import { PassThrough } from '../../../../plugins/format/routes/pass-through/pass-through.ts';
import { createReader } from '../../../../plugins/format/routes/translation/translator.ts';
import { conversational } from '../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';
import { exchange, formats, requestOf, settle, streamOf } from './fixture.ts';

const route = routeTo(upstreamAt('http://127.0.0.1:1/v1'));
const megabyte = 1024 * 1024;
/** What a machine under load may take for anything, in milliseconds. */
const noise = 100;
const runs = 3;

/** Milliseconds of CPU of this thread: the process runs the tests of other files in other threads. */
function cost(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  return process.threadCpuUsage(before).user / 1000;
}

/** Twice the size may take thrice the time; what grows by the square takes four times as long. */
function expectLinear(work: (scale: number) => () => void): void {
  const works = [work(1), work(2)];
  // In turn, and the least of them: what else the machine does slows a part of them.
  const costs = Array.from({ length: runs }, () => works.map(cost));
  const [once, twice] = [0, 1].map((size) => Math.min(...costs.map((both) => both[size] as number)));
  expect(twice).toBeLessThanOrEqual(3 * (once as number) + noise);
}

const cut = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );

describe.each(formats)('%s: the cost of one large event in small pieces', (format) => {
  const piecesOf = (scale: number) => {
    const { events } = settle([
      { type: 'text', text: 'a'.repeat(scale * 3 * megabyte) },
      { type: 'finish', reason: 'stop' },
      { type: 'end' },
    ]);
    return cut(Buffer.from(streamOf(format, events)), 1024);
  };

  it('the cost of translating a large event grows with its size', { timeout: 60_000 }, () => {
    expectLinear((scale) => {
      const pieces = piecesOf(scale);
      return () => {
        const reader = createReader(exchange, requestOf(format), route, conversational[format]);
        for (const piece of pieces) reader.push(piece);
        reader.end();
        expect([reader.isComplete, reader.failure]).toEqual([true, undefined]);
      };
    });
  });

  it('the cost of passing a large event through grows with its size', { timeout: 60_000 }, () => {
    expectLinear((scale) => {
      const pieces = piecesOf(scale);
      return () => {
        const reader = new PassThrough(exchange, requestOf(format), route).createReader();
        for (const piece of pieces) reader.push(piece);
        reader.end();
        expect([reader.isComplete, reader.failure]).toEqual([true, undefined]);
      };
    });
  });
});

describe('the cost of a chunk of many lines', () => {
  it.each(['\n', '\r\n', '\r'])('grows with their number, when they end in %j', { timeout: 60_000 }, (lineEnd) => {
    expectLinear((scale) => {
      const chunk = Buffer.from(`data: a${lineEnd}`.repeat(scale * 40_000));
      return () => {
        expect(new SseFramer().push(chunk)).toHaveLength(0);
      };
    });
  });

  it.each(['\n', '\r\n', '\r'])('and of many events grows with their number, in %j', { timeout: 60_000 }, (lineEnd) => {
    expectLinear((scale) => {
      const chunk = Buffer.from(`data: a${lineEnd}${lineEnd}`.repeat(scale * 40_000));
      return () => {
        const framer = new SseFramer();
        expect([...framer.push(chunk), ...framer.end()]).toHaveLength(scale * 40_000);
      };
    });
  });
});

describe('the cost of an entry in an array', () => {
  it.each([' ', ']'])('grows with its size, when its text is full of "%s"', { timeout: 60_000 }, (character) => {
    expectLinear((scale) => {
      const array = `[{"text":"${character.repeat(scale * 30_000)}."}]`;
      return () => {
        expect(new JsonArrayFramer().push(array).entries).toHaveLength(1);
      };
    });
  });
});
