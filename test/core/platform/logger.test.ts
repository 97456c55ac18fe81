import { expect, it } from 'vitest';
import { createLogger, type LogSettings } from '#core/platform/logger.ts';

const id = 'req_019abcdef0127abcdef0123456789abc';

function open(settings?: LogSettings) {
  const lines: string[] = [];
  return { lines, log: createLogger((line) => lines.push(line), settings) };
}

it('a line of JSON has time, level, message, stacks and the id of the request that it names', () => {
  const { log, lines } = open({ format: 'json' });
  log.error(`request ${id} failed`, new Error('outer\nsecond line', { cause: new Error('inner') }));
  log.info('no request');
  expect(lines.map((line) => line.split('\n').length)).toEqual([2, 2]);
  const [first, second] = lines.map((line) => JSON.parse(line) as Record<string, string>);
  expect(first).toMatchObject({ level: 'error', message: `request ${id} failed`, request_id: id });
  expect(first?.['error']).toMatch(/^Error: outer\nsecond line\n +at [^]*\ncaused by Error: inner\n/);
  expect(Object.keys(second ?? {})).toEqual(['time', 'level', 'message']);
  expect(new Date(second?.['time'] ?? '').getTime()).toBeGreaterThan(0);
});

it('the id of a request is found in its error as well', () => {
  const { log, lines } = open({ format: 'json' });
  log.error('sending failed', new Error(`no answer for ${id}`));
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ request_id: id });
});

it('lines below the level are not written', () => {
  const { log, lines } = open({ level: 'warn' });
  log.info('one');
  log.warn('two');
  log.error('three');
  expect(lines.map((line) => line.slice(25))).toEqual(['warn  two\n', 'error three\n']);
});

it('text indents further lines and escapes control characters', () => {
  const { log, lines } = open();
  log.warn('one\n\u001b[2Jtwo');
  expect(lines[0]?.slice(25)).toBe('warn  one\n  \\x1b[2Jtwo\n');
});

it('lines of several processes say which one has written them', () => {
  const json = open({ format: 'json', worker: 2 });
  json.log.info('one');
  expect(JSON.parse(json.lines[0] ?? '')).toMatchObject({ level: 'info', worker: 2, message: 'one' });
  const text = open({ worker: 2 });
  text.log.info('one');
  expect(text.lines[0]?.slice(25)).toBe('info  [2] one\n');
});
